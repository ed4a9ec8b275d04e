/**
 * Ends this process when its event loop is blocked for too long. A container runtime restarts a process that has ended, not one
 * that hangs. A blocked loop cannot end its process, so a separate thread does (`stallGuardMain.ts`).
 */
import { Worker } from 'node:worker_threads';
import { compiledProgram } from '../../src/host/program.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import { type Clock, SECOND, type Timer } from '../../src/time.js';

const SLOWEST_BEAT_MS = SECOND;
/** A lag is remembered for this many beats, so that a check every half minute does not miss it. */
const BEATS_REMEMBERED = 30;
/** Checks per limit; few enough to cost nothing. */
const LOOKS_PER_LIMIT = 20;

/** A tick that took longer than this many intervals means that the whole process was suspended. */
const ON_TIME_WITHIN = 2;

export interface StallGuardData {
  readonly shared: SharedArrayBuffer;
  /** How long the loop may be blocked, in milliseconds. */
  readonly limitMs: number;
  readonly tickMs: number;
  /** Where the last message goes besides standard error; null if nowhere else. */
  readonly logFile: string | null;
  /** Whether a person reads standard error. */
  readonly isTerminal: boolean;
}

interface StallGuardOptions extends Omit<StallGuardData, 'shared' | 'tickMs'> {
  readonly beat: LoopBeat;
  readonly logger: Logger;
}

/** The event loop's pulse: how late it is and, for another thread, whether it turns at all. */
export class LoopBeat implements Service {
  readonly name = 'pulse of the event loop';
  readonly beatMs: number;
  /** One counter, shared with the thread that watches it. */
  readonly shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #counter = new Int32Array(this.shared);
  readonly #clock: Clock;
  readonly #lags: number[] = [];
  #timer: Timer | null = null;
  #dueAt = 0;

  /** @param limitMs how long the loop may be blocked, in milliseconds: the beats show in time that it is not */
  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.beatMs = Math.min(SLOWEST_BEAT_MS, limitMs / 4);
  }

  /** The longest recent delay, in milliseconds. */
  get lagMs(): number {
    const present = this.#timer === null ? 0 : this.#clock.monotonic() - this.#dueAt;
    return Math.max(0, present, ...this.#lags);
  }

  async start(): Promise<void> {
    if (this.#timer === null) this.#arm();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #arm(): void {
    this.#dueAt = this.#clock.monotonic() + this.beatMs;
    this.#timer = this.#clock.after(this.beatMs, () => this.#beat());
  }

  #beat(): void {
    Atomics.add(this.#counter, 0, 1);
    this.#lags.push(this.#clock.monotonic() - this.#dueAt);
    if (this.#lags.length > BEATS_REMEMBERED) this.#lags.shift();
    this.#arm();
  }
}

export class StallGuard implements Service {
  readonly name = 'guard of the event loop';
  readonly #options: StallGuardOptions;
  #thread: Worker | null = null;

  constructor(options: StallGuardOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#thread !== null) return;
    const { beat, logger, ...given } = this.#options;
    const tickMs = given.limitMs / LOOKS_PER_LIMIT;
    const workerData: StallGuardData = { ...given, shared: beat.shared, tickMs };
    this.#thread = new Worker(compiledProgram('bridge/health/stallGuardMain'), { workerData, env: {} });
    this.#thread.on('error', (err) => logger.error({ err }, 'the event loop is no longer watched'));
    this.#thread.unref();
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }
}

/**
 * Decides in the thread when the event loop is blocked. It counts only those ticks of the thread that came on time: while the
 * host sleeps or the process is suspended, the thread stops as well, and nothing is at fault.
 */
export class StallJudge {
  readonly #tickMs: number;
  #lastBeats: number;
  #standing = 0;

  /** @param tickMs the intended interval of the checks, in milliseconds */
  constructor(tickMs: number, beats: number) {
    this.#tickMs = tickMs;
    this.#lastBeats = beats;
  }

  /** @param tookMs since the last check, as measured @returns how long the loop has been blocked, in ms of ticks on time */
  look(beats: number, tookMs: number): number {
    if (beats !== this.#lastBeats) this.#standing = 0;
    else if (tookMs <= ON_TIME_WITHIN * this.#tickMs) this.#standing += tookMs;
    this.#lastBeats = beats;
    return this.#standing;
  }
}
