/** The runs of this bridge: begins them, hears requests to end them, and ends them all in an orderly stop. */
import type { Service } from '../../src/service.js';
import type { Wakes } from '../../src/store/wakes.js';
import { atMost, SECOND } from '../../src/time.js';
import { type RunContext, RunJob } from './runJob.js';

/** What storing the ends may take after the last process is gone. */
const STORING_MS = 5 * SECOND;

export interface RunnerTimings {
  readonly drainMs: number;
  readonly killGraceMs: number;
}

export class Runner implements Service {
  readonly name = 'runs';
  readonly #context: RunContext;
  readonly #wakes: Wakes;
  readonly #timings: RunnerTimings;
  readonly #live = new Map<string, { job: RunJob; ended: Promise<void> }>();
  readonly #givingUp = new AbortController();
  #isOpen = false;
  #unlisten: () => void = () => undefined;

  constructor(context: RunContext, wakes: Wakes, timings: RunnerTimings) {
    this.#context = context;
    this.#wakes = wakes;
    this.#timings = timings;
  }

  async start(): Promise<void> {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#unlisten = this.#wakes.listen((wake) => {
      if ('stop' in wake) this.#hearStopRequest(wake.stop);
    });
  }

  /** Lets short runs finish, interrupts the rest, and returns when the end of each is stored. */
  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { logger } = this.#context;
    const { drainMs, killGraceMs } = this.#timings;
    if (this.#live.size > 0) logger.info(`runs may finish within ${drainMs} ms: ${[...this.#live.keys()].join(', ')}`);
    await this.#allEnded(drainMs);
    for (const { job } of this.#live.values()) job.stop('shutdown');
    await this.#allEnded(2 * killGraceMs + STORING_MS);
    this.#givingUp.abort();
    await this.#allEnded(STORING_MS);
    this.#unlisten();
    if (this.#live.size > 0)
      logger.error({ sessions: [...this.#live.keys()] }, 'runs are left behind; the reaper ends them');
  }

  /**
   * A session whose former run is just ending waits for that: put back at its lane's head, it is run again.
   * @returns when the run has ended and its end is stored; at once where it is not this session's turn
   */
  async execute(sessionId: string): Promise<void> {
    const former = this.#live.get(sessionId);
    if (former?.job.isEnding) await former.ended.catch(() => undefined);
    if (!this.#isOpen || this.#live.has(sessionId)) return;
    const session = await this.#context.store.records.session(sessionId);
    if (!this.#isOpen || session?.status !== 'pending' || this.#live.has(sessionId)) return;
    const job = new RunJob(this.#context, session);
    const ended = job.run(this.#givingUp.signal).finally(() => this.#live.delete(sessionId));
    this.#live.set(sessionId, { job, ended });
    await ended;
  }

  /** The wake only says where to look: what is asked for, and of which run, stands in the record. */
  #hearStopRequest(sessionId: string): void {
    const job = this.#live.get(sessionId)?.job;
    if (job === undefined) return;
    this.#context.store.records.session(sessionId).then(
      (session) => {
        if (session?.stop?.run_id === job.runId) job.stop('requested');
      },
      (err: unknown) =>
        this.#context.logger.warn({ err, session_id: sessionId }, 'a stop request is heard at the next renewal'),
    );
  }

  async #allEnded(withinMs: number): Promise<void> {
    const all = Promise.allSettled([...this.#live.values()].map(({ ended }) => ended));
    await atMost(this.#context.clock, withinMs, all, undefined);
  }
}
