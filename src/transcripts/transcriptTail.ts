/**
 * Reads a journal, or the transcript of a known program, as journal lines. A journal passes through unchanged.
 *
 * A transcript is read once, to its present end: unrecorded ends of turns can only be recognised from there.
 */
import { type JournalBatch, type JournalDiagnostics, type JournalSource, JournalTail } from '../journal/reader.js';
import type { JournalRecord } from '../journal/record.js';
import { isoTime } from '../time.js';
import type { DatedEvent, Draft, Format, TranscriptFormat, Weaver } from './draft/draft.js';
import { AS_IT_IS, type Trimmer } from './draft/trimmer.js';
import { type DraftOrder, DraftReader, earliestOf } from './draftReader.js';
import { formatOf } from './recognise.js';

/** A session's files. */
export interface TranscriptFiles {
  readonly path: string;
  /** Transcripts of its sub-agents. */
  readonly companions: readonly string[];
  /** The calls that started them, by agent, as far as known. */
  readonly parents: ReadonlyMap<string, string>;
}

/** Few, so that their lines are short-lived memory. */
export const DRAFTS_PER_BATCH = 512;
const NOTHING: JournalBatch = { records: [], restarted: false, more: false };

interface Translation {
  readonly format: Format;
  readonly readers: readonly DraftReader[];
  readonly weaver: Weaver;
  isOver: boolean;
}

export class TranscriptTail implements JournalSource {
  readonly path: string;
  readonly #files: TranscriptFiles;
  readonly #trimmer: Trimmer;
  readonly #order: DraftOrder;
  #tail: JournalTail;
  #translation: Translation | null = null;
  #isJournal = false;

  /**
   * @param trimmer trims each line; without it, lines are those of a journal, secrets included: the judgement shows none
   * @param order of the lines of one file. Those of several files are put together by time
   */
  constructor(files: TranscriptFiles, trimmer: Trimmer = AS_IT_IS, order: DraftOrder = 'time') {
    this.path = files.path;
    this.#files = files;
    this.#trimmer = trimmer;
    this.#order = order;
    this.#tail = new JournalTail(files.path);
  }

  /** Null until the first batch was read, and for a file without a known line. */
  get format(): TranscriptFormat | 'journal' | null {
    return this.#isJournal ? 'journal' : (this.#translation?.format.name ?? null);
  }

  /** Where the agent works; null as long as no record says it. */
  get directory(): string | null {
    return this.#translation?.readers[0]?.directory ?? null;
  }

  get diagnostics(): JournalDiagnostics {
    return sumOf(this.#translation?.readers.map((reader) => reader.diagnostics) ?? [this.#tail.diagnostics]);
  }

  rewind(): void {
    this.#tail = new JournalTail(this.#files.path);
    this.#translation = null;
    this.#isJournal = false;
  }

  readBatch(): JournalBatch {
    if (this.#translation !== null) return this.#translateOn(this.#translation);
    const batch = this.#tail.readBatch();
    if (this.#isJournal) return batch;
    for (const record of batch.records) {
      const format = formatOf(record);
      if (format === 'journal') {
        this.#isJournal = true;
        return batch;
      }
      if (format === null) continue;
      this.#translation = this.#begin(format, batch.records);
      return this.#translateOn(this.#translation);
    }
    // Nothing is known yet, and unknown records do not matter to the judgement.
    return batch;
  }

  #begin(format: Format, records: readonly JournalRecord[]): Translation {
    const options = { format, trimmer: this.#trimmer, order: this.#order };
    const companions = this.#files.companions.map((path) => new DraftReader(new JournalTail(path), options));
    const readers = [new DraftReader(this.#tail, { ...options, records }), ...companions];
    const mainAgent = companions.length === 0 ? format.agentOf(records) : null;
    const weaver = format.newWeaver(mainAgent, this.#files.parents, this.#order === 'file');
    return { format, readers, weaver, isOver: false };
  }

  #translateOn(translation: Translation): JournalBatch {
    if (translation.isOver) return NOTHING;
    const records: JournalRecord[] = [];
    const { readers, weaver } = translation;
    const unready = readers.find(({ isReady }) => !isReady);
    // A window of long lines takes seconds to read: a chunk each time.
    unready?.prepare();
    // The first window has the session's name.
    const sessionId = readers[0]?.sessionId ?? null;
    for (let count = 0; count < DRAFTS_PER_BATCH && readers.every(({ isReady }) => isReady); count += 1) {
      const draft = earliest(readers);
      translation.isOver = draft === null;
      const lines = draft === null ? weaver.finish() : weaver.weave(draft);
      for (const line of lines) records.push(recordOf(line, sessionId));
      if (draft === null) break;
    }
    return { records, restarted: false, more: !translation.isOver };
  }
}

/** @returns the diagnostics of several files as one */
export function sumOf(all: readonly JournalDiagnostics[]): JournalDiagnostics {
  const sum = (key: 'garbage_lines' | 'oversized_lines' | 'cut_lines' | 'newer_lines' | 'restarts') =>
    all.reduce((total, each) => total + each[key], 0);
  return {
    garbage_lines: sum('garbage_lines'),
    oversized_lines: sum('oversized_lines'),
    cut_lines: sum('cut_lines'),
    newer_lines: sum('newer_lines'),
    restarts: sum('restarts'),
    refused: all.find(({ refused }) => refused !== null)?.refused ?? null,
  };
}

function earliest(readers: readonly DraftReader[]): Draft | null {
  const reader = earliestOf(readers);
  const draft = reader?.peek() ?? null;
  reader?.take();
  return draft;
}

/** @returns the line of a journal */
export function recordOf({ time, event }: DatedEvent, sessionId: string | null): JournalRecord {
  const record: Record<string, unknown> = { v: 1, timestamp: isoTime(time), event: event.event };
  if (sessionId !== null) record.session_id = sessionId;
  // Spreading it into a literal takes several times as long.
  return Object.assign(record, event);
}
