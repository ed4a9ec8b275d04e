/**
 * Follows a journal, or the transcript of a known program, as it grows, and finds the transcripts of sub-agents that appear later.
 * However often it is read while they grow, its lines are those that `TranscriptTail` reads from the finished files.
 *
 * Lines that it has given out stay as they are. Others are only presumed: the latest records, because more may be written late,
 * and the end of a turn that a last message may have been. A record that belongs before given lines makes it start over.
 */
import { type JournalBatch, type JournalDiagnostics, type JournalSource, JournalTail } from '../journal/reader.js';
import type { JournalRecord } from '../journal/record.js';
import type { Clock } from '../time.js';
import type { Format, TranscriptFormat, Weaver } from './draft/draft.js';
import { AS_IT_IS, type Trimmer } from './draft/trimmer.js';
import { DraftReader, earliestOf } from './draftReader.js';
import { HeldDrafts } from './heldDrafts.js';
import { formatOf } from './recognise.js';
import { SubAgentFiles } from './subAgentFiles.js';
import { DRAFTS_PER_BATCH, recordOf, sumOf } from './transcriptTail.js';

const NONE: readonly JournalRecord[] = [];
const STARTS_OVER: JournalBatch = { records: NONE, restarted: true, more: true };

export interface FollowOptions {
  /** Its time is about that of the file system. */
  readonly clock: Pick<Clock, 'now'>;
  /** Trims each line; without it, lines are those of a journal, secrets included. */
  readonly trimmer?: Trimmer;
  /** How late records are written usually. Less is faster, until one comes later. */
  readonly latenessMs?: number;
}

interface FollowedFile {
  /** Empty for the session's own transcript. */
  readonly name: string;
  readonly reader: DraftReader;
}

interface Translation {
  readonly format: Format;
  readonly mainAgent: string | null;
  readonly files: FollowedFile[];
  /** Has woven the settled drafts. */
  readonly weaver: Weaver;
  /** Agents with a woven draft. */
  readonly agents: Set<string>;
  isAmidLook: boolean;
  /** Lines were given out. */
  hasGiven: boolean;
  /** Null if it has to be made again. */
  presumed: { readonly lines: readonly JournalRecord[]; readonly endsTurn: boolean } | null;
}

export class TranscriptFollower implements JournalSource {
  readonly path: string;
  readonly #trimmer: Trimmer;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #tail: JournalTail;
  readonly #held: HeldDrafts;
  #subAgents: SubAgentFiles;
  /** Null if nothing is known in the file so far. */
  #format: Format | 'journal' | null = null;
  #translation: Translation | null = null;
  #sessionId: string | null = null;
  /** How often the transcript of a sub-agent was rewritten or removed. */
  #lost = 0;

  /** @param path of a session's transcript; it need not exist yet */
  constructor(path: string, { clock, trimmer = AS_IT_IS, latenessMs }: FollowOptions) {
    this.path = path;
    this.#held = new HeldDrafts(latenessMs);
    this.#clock = clock;
    this.#trimmer = trimmer;
    this.#tail = new JournalTail(path);
    this.#subAgents = new SubAgentFiles(path, clock);
  }

  /** Null as long as nothing in the file is known. */
  get format(): TranscriptFormat | 'journal' | null {
    return this.#format === 'journal' ? 'journal' : (this.#format?.name ?? null);
  }

  /** As the program named it; null as long as no record says it. */
  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** Where the agent works; null as long as no record says it. */
  get directory(): string | null {
    return this.#translation?.files[0]?.reader.directory ?? null;
  }

  /** The sums over all files. `refused` says that the transcript was removed, too. */
  get diagnostics(): JournalDiagnostics {
    const all = this.#translation?.files.map(({ reader }) => reader.diagnostics) ?? [this.#tail.diagnostics];
    const sum = sumOf(all);
    return { ...sum, restarts: sum.restarts + this.#lost };
  }

  rewind(): void {
    this.#tail.rewind();
    this.#translation = null;
  }

  readBatch(): JournalBatch {
    if (this.#format === 'journal') return this.#passOn();
    if (this.#format === null) {
      const batch = this.#tail.readBatch();
      this.#format = batch.records.map(formatOf).find((format) => format !== null) ?? null;
      // Unknown records say nothing.
      if (this.#format === null) return { ...batch, records: NONE };
      this.rewind();
      return { records: NONE, restarted: batch.restarted, more: true };
    }
    this.#translation ??= this.#begin(this.#format);
    return this.#translateOn(this.#translation);
  }

  /**
   * @returns the lines that come after all that were given out if nothing more is written; the same list until that changes. If the
   *   last message may have been its turn's last, it is
   */
  presumed(): readonly JournalRecord[] {
    return this.#presume()?.lines ?? NONE;
  }

  /** Whether the last message is only presumed to be its turn's last. */
  get presumesEnd(): boolean {
    return this.#presume()?.endsTurn ?? false;
  }

  #passOn(): JournalBatch {
    const batch = this.#tail.readBatch();
    return batch.restarted ? this.#startOver() : batch;
  }

  #begin(format: Format): Translation {
    const subAgents = this.#subAgents;
    subAgents.look();
    const mainAgent = this.#mainAgent(format);
    const files: FollowedFile[] = [
      { name: '', reader: new DraftReader(this.#tail, { format, trimmer: this.#trimmer }) },
    ];
    this.#held.clear();
    return {
      format,
      mainAgent,
      files,
      weaver: format.newWeaver(mainAgent, subAgents.parents),
      agents: new Set(),
      isAmidLook: false,
      hasGiven: false,
      presumed: null,
    };
  }

  #mainAgent(format: Format): string | null {
    const { opening } = this.#subAgents;
    return opening === null ? null : format.agentOf([opening]);
  }

  #translateOn(translation: Translation): JournalBatch {
    if (!translation.isAmidLook && !this.#beginLook(translation)) return this.#readAnew();
    const { files } = translation;
    const readers = files.map(({ reader }) => reader);
    let isInOrder = true;
    let pulled = 0;
    for (; isInOrder && pulled < DRAFTS_PER_BATCH; pulled += 1) {
      const reader = earliestOf(readers);
      const draft = reader?.peek() ?? null;
      if (reader === null || draft === null) break;
      isInOrder = this.#held.take(draft, files[readers.indexOf(reader)]?.name ?? '');
      reader.take();
    }
    translation.isAmidLook = pulled === DRAFTS_PER_BATCH;
    if (readers.some(({ isVoid }) => isVoid)) return this.#startOver(readers[0]?.isVoid === true);
    if (!isInOrder || !this.#nameSession(translation)) return this.#readAnew();
    const records = pulled === 0 ? NONE : this.#settle(translation);
    return { records, restarted: false, more: translation.isAmidLook };
  }

  /** @returns false if what is known now would have changed what was given out */
  #beginLook(translation: Translation): boolean {
    const { format, files, mainAgent, agents } = translation;
    const known = this.#subAgents.look();
    if (known.length > 0) translation.presumed = null;
    if (this.#mainAgent(format) !== mainAgent || known.some((agent) => agents.has(agent))) return false;
    const { found } = this.#subAgents;
    if (found.length >= files.length) {
      const names = new Set(files.map(({ name }) => name));
      for (const name of found) {
        if (!names.has(name))
          files.push({ name, reader: new DraftReader(new JournalTail(name), { format, trimmer: this.#trimmer }) });
      }
    }
    for (const { reader } of files) reader.readOn();
    this.#held.beginLook();
    return true;
  }

  /** @returns false if lines were given out without the session's name */
  #nameSession(translation: Translation): boolean {
    const sessionId = translation.files[0]?.reader.sessionId ?? null;
    if (this.#sessionId !== null || sessionId === null) return true;
    this.#sessionId = sessionId;
    translation.presumed = null;
    return !translation.hasGiven;
  }

  #settle(translation: Translation): JournalRecord[] {
    translation.presumed = null;
    const records: JournalRecord[] = [];
    for (const draft of this.#held.settle()) {
      const { agent_id: agent } = draft.event;
      if (agent !== undefined) translation.agents.add(agent);
      for (const line of translation.weaver.weave(draft)) records.push(recordOf(line, this.#sessionId));
    }
    translation.hasGiven ||= records.length > 0;
    return records;
  }

  #presume(): Translation['presumed'] {
    if (this.#translation !== null) this.#translation.presumed ??= this.#weaveOn(this.#translation);
    return this.#translation?.presumed ?? null;
  }

  #weaveOn({ weaver }: Translation): NonNullable<Translation['presumed']> {
    const ahead = weaver.copy();
    const lines = this.#held.waiting.flatMap((draft) => ahead.weave(draft));
    const end = ahead.finish();
    return {
      lines: [...lines, ...end].map((line) => recordOf(line, this.#sessionId)),
      endsTurn: end.some(({ event }) => event.event === 'turn_end'),
    };
  }

  /** The files are as they were, but something belongs before lines that were given out. */
  #readAnew(): JournalBatch {
    this.rewind();
    return STARTS_OVER;
  }

  /** @param isOwn the session's own file was rewritten or removed, and not a sub-agent's */
  #startOver(isOwn = true): JournalBatch {
    if (!isOwn) this.#lost += 1;
    this.rewind();
    this.#format = null;
    this.#sessionId = null;
    this.#subAgents = new SubAgentFiles(this.path, this.#clock);
    return STARTS_OVER;
  }
}
