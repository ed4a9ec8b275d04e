/**
 * Ends this process when its event loop is blocked for too long. A container runtime restarts what has ended, not what hangs. A
 * blocked loop cannot end its process, so a separate thread does (`stallGuardMain.ts`).
 */
import { Worker } from 'node:worker_threads';
import { compiledProgram } from '../../src/host/program.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import { SECOND } from '../../src/time.js';
import type { LoopBeat } from './loopBeat.js';

/** Checks per limit; few enough to cost nothing. */
const LOOKS_PER_LIMIT = 20;

/** A tick that took longer than this many intervals means that the whole process was suspended. */
const ON_TIME_WITHIN = 2;

/** The thread's data. */
export interface StallGuardData {
  readonly shared: SharedArrayBuffer;
  /** How long the loop may be blocked, in milliseconds. */
  readonly limitMs: number;
  readonly tickMs: number;
  /** Where the last message goes besides standard error; null: nowhere else. */
  readonly logFile: string | null;
  /** Whether a person reads standard error. */
  readonly isTerminal: boolean;
}

interface StallGuardOptions extends Omit<StallGuardData, 'shared' | 'tickMs'> {
  readonly beat: LoopBeat;
  readonly logger: Logger;
}

/** @returns the interval of the loop's beats that shows in time that it is alive, in milliseconds */
export function beatFor(limitMs: number): number {
  return Math.min(SECOND, limitMs / 4);
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

  /**
   * @param beats how often the loop has turned so far
   * @param tookMs since the last check, in milliseconds, as measured
   * @returns how long the loop has been blocked, in milliseconds of ticks that came on time
   */
  look(beats: number, tookMs: number): number {
    if (beats !== this.#lastBeats) this.#standing = 0;
    else if (tookMs <= ON_TIME_WITHIN * this.#tickMs) this.#standing += tookMs;
    this.#lastBeats = beats;
    return this.#standing;
  }
}
