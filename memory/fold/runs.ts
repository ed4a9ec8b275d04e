/**
 * The runs of a session, as a process of one host sees them. A run is open until its end is written. That it crashed is never stored:
 * it is a question about the process of the present run, asked when a reader looks.
 */
import { isProcessAlive, isSameProcess, type ProcessIdentity } from '../../src/host/identity.js';
import { oneLine } from '../../src/log/visibleText.js';
import { localTime } from '../../src/time.js';
import { type Lifecycle, type Liveness, LOST, MOVED } from '../words.js';
import type { Conversation, Run, Worklog } from './worklog.js';

export type Ran = Pick<Run, 'process' | 'agent' | 'ended_at' | 'published'>;

/** A session's record, as far as its runs follow from it. */
export interface RunsOf<Known extends Ran = Run> {
  readonly lifecycle: Lifecycle;
  readonly runs: readonly Known[];
}

export class Runs<Known extends Ran = Run> {
  /**
   * Two agents may work on one session: a conversation is resumed while it is open elsewhere. The end of one says nothing of the other.
   * So this is the last run that is going; else the last open one; else the last one. Null if there was none.
   */
  readonly present: Known | null;
  readonly #lifecycle: Lifecycle;
  readonly #runs: readonly Known[];
  readonly #open: readonly Known[];
  readonly #here: ProcessIdentity;
  /** Asked once each, so that all answers agree. */
  readonly #alive = new Map<Known, boolean | null>();

  /** @param here the identity of a process of this host */
  constructor({ lifecycle, runs }: RunsOf<Known>, here: ProcessIdentity) {
    this.#lifecycle = lifecycle;
    this.#runs = runs;
    this.#here = here;
    this.#open = openRuns(runs).filter((run) => !this.#hasVanished(run));
    const going = this.#open.length > 1 ? this.going.at(-1) : undefined;
    this.present = going ?? this.#open.at(-1) ?? runs.at(-1) ?? null;
  }

  /** The liveness of the present run's process. */
  get liveness(): Liveness {
    if (this.present === null) return 'none';
    const alive = this.#isAlive(this.present);
    return alive === null ? 'unknown' : alive ? 'alive' : 'dead';
  }

  /** Whether the end of the present run is written, or seen. False also if there was no run. */
  get hasEnded(): boolean {
    return this.present !== null && !this.#open.includes(this.present);
  }

  /** Whether the end of the present run was seen, but not written. */
  get hasVanished(): boolean {
    return this.present !== null && this.#hasVanished(this.present);
  }

  /** Whether an agent may be at work, as far as the runs show: none is known, or the present one is going. */
  get mayWork(): boolean {
    return !this.hasEnded && this.liveness !== 'dead';
  }

  /** Open, and not proven dead. */
  get going(): readonly Known[] {
    return this.#open.filter((run) => this.#isAlive(run) !== false);
  }

  /** Those of {@link going} on this host: a home may be a copy of another machine's, or shared with one. */
  get goingHere(): readonly Known[] {
    return this.going.filter(({ process }) => process.host === this.#here.host);
  }

  /** Ended ones, too, whose processes are not proven dead: an agent may have left for another session. */
  get living(): readonly Known[] {
    return this.#runs.filter((run) => this.#isAlive(run) !== false);
  }

  /** Open, and proven alive. */
  get alive(): readonly Known[] {
    return this.#open.filter((run) => this.#isAlive(run) === true);
  }

  /** Open, and proven dead. */
  get dead(): readonly Known[] {
    return this.#open.filter((run) => this.#isAlive(run) === false);
  }

  /** @returns the runs that are proven alive, without that of the caller's own agent */
  others(own: ProcessIdentity | null): readonly Known[] {
    return this.alive.filter(({ process }) => own === null || !isSameProcess(process, own));
  }

  /** Whether the session is active, and the process of its present run, which is open, is proven dead. */
  get isLost(): boolean {
    return this.#lifecycle === 'active' && !this.hasEnded && this.liveness === 'dead';
  }

  /** The other host of an active session's present run, which cannot be seen from here. Null if it is on none. */
  get elsewhere(): string | null {
    if (this.#lifecycle !== 'active' || this.present === null || this.hasEnded) return null;
    const { host } = this.present.process;
    return host === this.#here.host ? null : host;
  }

  /** Its program published that it lived, and took that back, as it does at an orderly end. */
  #hasVanished(run: Known): boolean {
    return run.published === 'live' && isOpen(run) && this.#isAlive(run) === false;
  }

  #isAlive(run: Known): boolean | null {
    let alive = this.#alive.get(run);
    if (alive === undefined) {
      alive = isProcessAlive(run.process, this.#here);
      this.#alive.set(run, alive);
    }
    return alive;
  }
}

/** @returns the runs whose end is not written */
export function openRuns<Known extends Ran>(runs: readonly Known[]): Known[] {
  return runs.filter(isOpen);
}

/** @returns the last open run of a process; undefined if it has none */
export function openRunOf<Known extends Ran>(runs: readonly Known[], process: ProcessIdentity): Known | undefined {
  return runs.findLast((run) => isOpen(run) && isSameProcess(run.process, process));
}

/** @returns whether its program reported its end: it was not found gone, nor moved to another session */
export function hasReportedEnd(run: Pick<Run, 'ended_at' | 'reason'>): boolean {
  return run.ended_at !== null && run.reason !== LOST && !run.reason?.startsWith(MOVED);
}

export function isOpen({ ended_at }: Pick<Ran, 'ended_at'>): boolean {
  return ended_at === null;
}

/**
 * @param time words an instant for the reader
 * @returns which process it is and since when, as the beginning of a sentence
 */
export function runWords({ process: { pid }, agent, started_at }: Run, time = localTime): string {
  return oneLine(`process ${pid}${agent === null ? '' : ` (${agent})`} has worked on it since ${time(started_at)}`);
}

/** @returns the conversation that the agent of the present run had last; null if it is unknown */
export function presentConversation(
  { conversations }: Pick<Worklog, 'conversations'>,
  { present }: Runs,
): Conversation | null {
  const isOfRun = ({ process, moved_at }: Conversation) =>
    moved_at === null && present !== null && process !== null && isSameProcess(process, present.process);
  return conversations.findLast(isOfRun) ?? null;
}

/** @returns the last run that was found dead when another one began; null if none was */
export function lostRun({ runs }: Pick<Worklog, 'runs'>): Run | null {
  return runs.findLast(({ reason }) => reason === LOST) ?? null;
}
