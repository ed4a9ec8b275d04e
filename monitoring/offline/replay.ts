/** Judges a journal as a watchdog would have: at each line, and at each deadline, when a rule can become true without a line. */
import type { Rule, Thresholds } from '../../src/config/rules.js';
import type { Finding } from '../../src/jobs/findings.js';
import type { JournalRecord } from '../../src/journal/record.js';
import { isoTime } from '../../src/time.js';
import { type Assessment, assessState, type Judged, judgeState } from '../verdict/assessSessionHealth.js';
import { tailFor } from '../verdict/timeline/callTail.js';
import { type Entry, isUntimed, toEntry } from '../verdict/timeline/entry.js';
import { foldEntry } from '../verdict/timeline/fold.js';
import { MOST_AGENTS } from '../verdict/timeline/lineage.js';
import { newState, type TimelineState } from '../verdict/timeline/state.js';

/** They move the clocks of their own agent and its ancestors, and no others. */
const QUIET_KINDS: ReadonlySet<Entry['kind']> = new Set([
  'call',
  'result',
  'agent_activity',
  'tool_activity',
  'tool_tick',
  'harness_record',
  'no_activity',
]);
/** How far lines may be out of order; the memory of a replay is bounded by twice as many. */
const ORDERED_LINES = 65_536;

/** The part of a recording that was seen so far. */
interface Seen {
  judged: number;
  /** UTC epoch milliseconds; null for a journal without a usable line. */
  from: number | null;
  to: number | null;
  sessionId: string | null;
  /** Whether it holds no line of a journal of any time. */
  isBlank: boolean;
  /** Lines that came too late to be put in order. */
  misplaced: number;
  /** Lines with an event but no instant. */
  untimed: number;
}

export interface ReplayResult extends Readonly<Seen> {
  /** For each rule that ever became true, the finding at that instant, which is `since`. */
  readonly first: readonly Finding[];
  readonly last: Assessment;
}

/** Observes a replay, for example to measure it. It must not change the state. */
export interface ReplayObserver {
  /** The lines of `now` are about to be folded. */
  before(state: TimelineState, now: number): void;
  judged(state: TimelineState, judged: Judged, now: number): void;
}

export class Replay {
  readonly #thresholds: Thresholds;
  readonly #until: number;
  readonly #observer: ReplayObserver | undefined;
  readonly #state: TimelineState;
  readonly #first = new Map<Rule, Finding>();
  #waiting: Entry[] = [];
  #deadline: number | null = null;
  /** Before this instant no agent is silent. */
  #quietUntil = Number.NEGATIVE_INFINITY;
  readonly #seen: Seen = { judged: 0, from: null, to: null, sessionId: null, isBlank: true, misplaced: 0, untimed: 0 };

  /** @param until the last instant to judge, UTC epoch milliseconds; infinite: that of the last line */
  constructor(thresholds: Thresholds, until = Number.POSITIVE_INFINITY, observer?: ReplayObserver) {
    this.#thresholds = thresholds;
    this.#until = until;
    this.#observer = observer;
    this.#state = newState(tailFor(thresholds));
  }

  /** Takes lines in file order. */
  add(records: readonly JournalRecord[]): void {
    const seen = this.#seen;
    for (const record of records) {
      if (seen.sessionId === null && typeof record.session_id === 'string') seen.sessionId = record.session_id;
      const entry = toEntry(record);
      if (entry === null) {
        if (isUntimed(record)) seen.untimed += 1;
        continue;
      }
      seen.isBlank = false;
      if (entry.time <= this.#until) this.#waiting.push(entry);
    }
    if (this.#waiting.length >= 2 * ORDERED_LINES) this.#play(ORDERED_LINES);
  }

  /** @returns the result of the replay; call it once, after the last line */
  finish(): ReplayResult {
    this.#play(0);
    if (Number.isFinite(this.#until)) {
      this.#judgeDeadlinesBefore(this.#until);
      this.#judge(this.#until);
    }
    const last = assessState(this.#state, this.#thresholds, this.#seen.to ?? 0);
    return { ...this.#seen, first: [...this.#first.values()], last };
  }

  /**
   * Plays the waiting lines, except the latest `kept`. Sorting keeps the file order among lines of one instant. In this order
   * each line is folded once, so a replay needs no timeline that could take late ones.
   */
  #play(kept: number): void {
    this.#waiting.sort((left, right) => left.time - right.time);
    const due = this.#waiting.splice(0, this.#waiting.length - kept);
    for (let start = 0; start < due.length; ) {
      const time = due[start]?.time ?? 0;
      let end = start + 1;
      while (due[end]?.time === time) end += 1;
      if (time >= (this.#seen.to ?? time)) this.#playInstant(due.slice(start, end), time);
      else this.#seen.misplaced += end - start;
      start = end;
    }
  }

  #playInstant(entries: readonly Entry[], time: number): void {
    this.#judgeDeadlinesBefore(time);
    this.#observer?.before(this.#state, time);
    for (const entry of entries) {
      foldEntry(this.#state, entry);
      if (!this.#keepsQuiet(entry)) this.#quietUntil = Number.NEGATIVE_INFINITY;
    }
    // The agents of these lines may be silent after this long; no other becomes so any earlier than before.
    this.#quietUntil = Math.min(this.#quietUntil, time + this.#thresholds.silence_ms);
    this.#judge(time);
  }

  /** @returns false if the line may end another agent's wait, or what is owed */
  #keepsQuiet(entry: Entry): boolean {
    const { agents } = this.#state.run;
    if (!QUIET_KINDS.has(entry.kind) || entry.permissionMode !== null || agents.length >= MOST_AGENTS) return false;
    // A call that is written after the sub-agent it started: from now on that sub-agent is awaited.
    return entry.kind !== 'call' || !agents.some(({ parentCall }) => parentCall !== null && parentCall === entry.id);
  }

  #judgeDeadlinesBefore(time: number): void {
    while (this.#deadline !== null && this.#deadline < time) this.#judge(this.#deadline);
  }

  #judge(now: number): void {
    const judged = judgeState(this.#state, this.#thresholds, now, this.#quietUntil);
    this.#quietUntil = judged.quietUntil;
    this.#observer?.judged(this.#state, judged, now);
    this.#seen.from ??= now;
    this.#seen.to = now;
    this.#seen.judged += 1;
    this.#deadline = judged.next_deadline;
    for (const finding of judged.findings) {
      if (!this.#first.has(finding.rule)) this.#first.set(finding.rule, { ...finding, since: isoTime(now) });
    }
  }
}
