/**
 * The transcript of a conversation as it grows, with facts that only the worklog of its session has: a permission dialog is open, the
 * program that showed it has ended, or another program has resumed the conversation, and owes nothing from before. A reader cannot
 * see where a line came from.
 */
import { canonicalJson, contentDigest } from '../../src/journal/digest.js';
import { instantOf } from '../../src/journal/normalise.js';
import {
  type JournalBatch,
  type JournalDiagnostics,
  type JournalSource,
  JournalTail,
} from '../../src/journal/reader.js';
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { processSchema } from '../fold/rules/runs.js';

const NONE: readonly JournalRecord[] = [];
/** Calls in flight that are remembered; the oldest is forgotten first. */
const MOST_CALLS = 256;

/** As its program names it. */
export interface FollowedConversation {
  readonly provider: string;
  readonly id: string;
}

interface OpenCall {
  readonly agent: string | null;
  readonly tool: string | null;
  readonly digest: string;
}

export class WovenTranscript implements JournalSource {
  readonly #transcript: JournalSource;
  readonly #worklog: JournalTail;
  readonly #conversation: FollowedConversation;
  /** Lines of the worklog that are not given out yet: they are not earlier than the presumed lines of the transcript. */
  #waiting: JournalRecord[] = [];
  /** Kinds of waits that are open by the worklog. */
  readonly #open = new Set<string>();
  /** The programs that work on the session by the worklog. */
  readonly #programs = new Set<string>();
  /** By id, of the lines that were given out. */
  readonly #calls = new Map<string, OpenCall>();
  #reportsDialogs = false;
  #presumedBefore = NONE;
  #presumed: readonly JournalRecord[] | null = null;

  /**
   * @param transcript whose lines are never final before it says so
   * @param worklog its path
   * @param conversation of the transcript; the worklog may name others
   */
  constructor(transcript: JournalSource, worklog: string, conversation: FollowedConversation) {
    this.#transcript = transcript;
    this.#conversation = conversation;
    this.#worklog = new JournalTail(worklog);
  }

  get path(): string {
    return this.#transcript.path;
  }

  /** Whether the program has ever reported a dialog itself: then a dialog that it does not report is not open. */
  get reportsDialogs(): boolean {
    return this.#reportsDialogs;
  }

  get diagnostics(): JournalDiagnostics {
    return this.#transcript.diagnostics;
  }

  readBatch(): JournalBatch {
    for (let more = true; more; ) {
      const said = this.#worklog.readBatch();
      if (said.restarted) return this.#startOver();
      for (const record of said.records) this.#takeWaits(record);
      more = said.more;
    }
    const batch = this.#transcript.readBatch();
    if (batch.restarted) this.#startAnew();
    const waiting = this.#waiting.length;
    const records = this.#weave(batch.records, this.#waiting, this.#calls);
    if (!batch.more) records.push(...this.#settled());
    if (this.#waiting.length < waiting) this.#presumed = null;
    return { ...batch, records };
  }

  rewind(): void {
    this.#transcript.rewind();
    this.#forget();
  }

  presumed(): readonly JournalRecord[] {
    const presumed = this.#transcript.presumed?.() ?? NONE;
    if (this.#presumed !== null && presumed === this.#presumedBefore) return this.#presumed;
    this.#presumedBefore = presumed;
    const calls = new Map(this.#calls);
    const left = [...this.#waiting];
    const woven = left.length === 0 ? presumed : this.#weave(presumed, left, calls);
    this.#presumed = left.length === 0 ? woven : [...woven, ...left.map((wait) => this.#named(wait, calls))];
    return this.#presumed;
  }

  /** The worklog is read from its beginning again. */
  #forget(): void {
    this.#worklog.rewind();
    this.#waiting = [];
    this.#open.clear();
    this.#programs.clear();
    this.#calls.clear();
    this.#presumed = null;
  }

  /** The transcript has begun again, and this batch is its first. */
  #startAnew(): void {
    this.#forget();
    for (let more = true; more; ) {
      const said = this.#worklog.readBatch();
      for (const record of said.records) this.#takeWaits(record);
      more = said.more;
    }
  }

  #startOver(): JournalBatch {
    this.rewind();
    return { records: NONE, restarted: true, more: true };
  }

  #takeWaits(record: JournalRecord): void {
    const { event, timestamp } = record;
    const kind = textOf(record.kind);
    if (event === 'wait_start' && kind !== null) {
      this.#reportsDialogs ||= kind === 'permission';
      this.#open.add(kind);
      this.#waiting.push(record);
    } else if (event === 'wait_end' && kind !== null) {
      this.#open.delete(kind);
      this.#waiting.push(record);
    } else if (event === 'run_started') {
      this.#programs.add(programOf(record));
      return;
    } else if (event === 'run_ended') {
      // Another window may have the dialog. The fold of the worklog has the same rule.
      if (!this.#programs.delete(programOf(record)) || this.#programs.size > 0) return;
      for (const each of this.#open) this.#waiting.push({ event: 'wait_end', kind: each, timestamp });
      this.#open.clear();
    } else if (this.#isResumption(record)) {
      this.#waiting.push({ event: 'session_start', source: 'resume', timestamp });
    } else return;
    this.#presumed = null;
  }

  #isResumption({ event, source, provider, conversation }: JournalRecord): boolean {
    const { provider: ownProvider, id } = this.#conversation;
    return event === 'conversation' && source === 'resume' && provider === ownProvider && conversation === id;
  }

  /** @returns the lines of the worklog that come before all that is presumed */
  #settled(): JournalRecord[] {
    const [first] = this.#waiting.length === 0 ? NONE : (this.#transcript.presumed?.() ?? NONE);
    return first === undefined ? [] : this.#before(first, this.#waiting, this.#calls);
  }

  /**
   * @param left of the worklog, in order: those that come before one of the records are taken out
   * @param calls in flight, before these records; they change with them
   */
  #weave(records: readonly JournalRecord[], left: JournalRecord[], calls: Map<string, OpenCall>): JournalRecord[] {
    const woven: JournalRecord[] = [];
    for (const record of records) {
      if (left.length > 0) woven.push(...this.#before(record, left, calls));
      this.#follow(record, calls);
      woven.push(record);
    }
    return woven;
  }

  #before(record: JournalRecord, left: JournalRecord[], calls: Map<string, OpenCall>): JournalRecord[] {
    const until = instantOf(record.timestamp) ?? Number.NEGATIVE_INFINITY;
    const taken: JournalRecord[] = [];
    for (let next = left[0]; next !== undefined && (instantOf(next.timestamp) ?? 0) < until; next = left[0]) {
      taken.push(this.#named(next, calls));
      // Their program is gone.
      if (next.event === 'session_start') calls.clear();
      left.shift();
    }
    return taken;
  }

  #follow(record: JournalRecord, calls: Map<string, OpenCall>): void {
    const id = textOf(record.tool_use_id);
    if (id === null) return;
    if (record.event === 'post_tool_use') calls.delete(id);
    if (record.event !== 'pre_tool_use') return;
    const digest = textOf(record.input_digest) ?? contentDigest(canonicalJson(record.tool_input));
    calls.set(id, { agent: textOf(record.agent_id), tool: textOf(record.tool_name), digest });
    const [oldest] = calls.keys();
    if (calls.size > MOST_CALLS && oldest !== undefined) calls.delete(oldest);
  }

  /** A hook does not say for which call a dialog is open, but for which tool and input. If several calls are equal, no id is given. */
  #named(record: JournalRecord, calls: ReadonlyMap<string, OpenCall>): JournalRecord {
    const digest = textOf(record.input_digest);
    if (record.event !== 'wait_start' || digest === null) return record;
    const agent = textOf(record.agent_id);
    const tool = textOf(record.tool);
    const meant = [...calls].filter(
      ([, call]) => call.digest === digest && call.tool === tool && (agent === null || call.agent === agent),
    );
    const [[id] = [null]] = meant;
    return meant.length === 1 ? { ...record, tool_use_id: id } : record;
  }
}

/** @returns a name of the process */
function programOf(record: JournalRecord): string {
  return canonicalJson(processSchema.safeParse(record.process).data ?? null);
}
