/** Takes jobs and hands each to the runner. The queue does not care about a run's work or its end. */
import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { describeError } from '../../src/errors.js';
import type { Logger } from '../../src/log/logger.js';
import { closeRedis } from '../../src/redis/connect.js';
import type { Service } from '../../src/service.js';
import { atMost, type Clock, SECOND } from '../../src/time.js';
import { type JobData, queueName } from './pump.js';

/** A longer one would only delay recovery. A lost lock does not mean a dead run: the run's own lease decides. */
const LOCK_MS = 30_000;
/** BullMQ's words for a job whose lock belongs to another worker, or whose key is gone. */
const LOCK_TROUBLE = /could not renew lock|Missing (?:lock|key) for job|Lock mismatch for job/;
/** BullMQ's words, half a minute later, for a job whose worker was killed: its run has long been handled. */
const WORKER_GONE = /job stalled more than allowable limit/;
const LEAVING_MS = 3 * SECOND;

export interface WorkerOptions {
  readonly host: string;
  readonly bullPrefix: string;
  /** Opens a connection that retries for ever, as BullMQ's workers require. */
  readonly connection: Redis;
  readonly concurrency: number;
  readonly logger: Logger;
  /** Starts the lane again that a lost job leaves waiting: its taker died, or the store did not answer. */
  readonly lanes: { startAllSoon(): void };
  readonly clock: Clock;
  readonly runner: {
    start(): Promise<void>;
    stop(): Promise<void>;
    /** Resolves when the session's run has ended and is stored, and with it the next ones in its lane while `hasRoom`. */
    execute(sessionId: string, hasRoom: () => boolean): Promise<void>;
  };
}

export class SessionWorker implements Service {
  readonly name = 'worker';
  readonly #options: WorkerOptions;
  #worker: Worker<JobData> | null = null;
  #running = 0;
  #activeAt: number | null = null;
  /** Jobs that run. */
  readonly #taken = new Set<string>();
  /** Those of them whose lost lock was logged. */
  readonly #unlocked = new Set<string>();

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** When it last took a job or ended one, in epoch milliseconds; null before the first. */
  get lastActiveAt(): number | null {
    return this.#activeAt;
  }

  /** Whether the maximum number of agents is running: then it rightly takes no job. */
  get isFull(): boolean {
    return this.#running >= this.#options.concurrency;
  }

  async start(): Promise<void> {
    if (this.#worker !== null) return;
    const { host, bullPrefix, connection, concurrency, logger, lanes, runner } = this.#options;
    await runner.start();
    this.#worker = new Worker<JobData>(queueName(host), async ({ id, data }) => this.#take(id, data.session_id), {
      connection,
      prefix: bullPrefix,
      concurrency,
      lockDuration: LOCK_MS,
      // The watchdog owns every retry; BullMQ's own would be a second recovery loop.
      maxStalledCount: 0,
    });
    this.#worker.on('error', (error) => this.#logTrouble(error));
    this.#worker.on('failed', (job, error) => {
      const level = WORKER_GONE.test(error.message) ? 'debug' : 'error';
      logger[level]({ err: error, session_id: job?.data.session_id }, 'a job failed outside its run');
      lanes.startAllSoon();
    });
    this.#worker.on('lockRenewalFailed', (jobs) => this.#logLostLocks(jobs));
    await this.#worker.waitUntilReady();
  }

  /** BullMQ's own trouble with a lock does not concern us: a lost lock is reported by `lockRenewalFailed`. */
  #logTrouble(err: Error): void {
    const { logger } = this.#options;
    if (LOCK_TROUBLE.test(err.message)) logger.debug({ err }, 'a job has lost its lock');
    else logger.warn({ err }, `the worker met a queue error and continues: ${describeError(err)}`);
  }

  /** Once for each job: BullMQ asks for a lost lock again and again until the job has ended. */
  #logLostLocks(lost: readonly string[]): void {
    const jobs = lost.filter((id) => this.#taken.has(id) && !this.#unlocked.has(id));
    for (const id of jobs) this.#unlocked.add(id);
    if (jobs.length > 0) this.#options.logger.warn({ jobs }, 'job locks were lost; the leases of the runs decide');
  }

  async #take(jobId: string | undefined, sessionId: string | null): Promise<void> {
    const { clock, runner } = this.#options;
    this.#activeAt = clock.now();
    if (sessionId === null) return;
    this.#running += 1;
    const id = jobId ?? sessionId;
    this.#taken.add(id);
    try {
      await runner.execute(sessionId, () => !this.isFull);
    } finally {
      this.#taken.delete(id);
      this.#unlocked.delete(id);
      this.#running -= 1;
      this.#activeAt = clock.now();
    }
  }

  /** Takes no more jobs, lets the runner end its runs, then leaves the queue: in order if Redis answers. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.pause(true);
    await this.#options.runner.stop();
    if (worker !== null) await this.#leave(worker);
  }

  /** BullMQ waits without a limit for an unreachable Redis, only to report jobs whose real state is kept elsewhere. */
  async #leave(worker: Worker<JobData>): Promise<void> {
    const { clock, logger, connection } = this.#options;
    const left = worker.close();
    if (await isDoneSoon(clock, left)) return;
    logger.warn('the queue could not be closed in order; the next worker takes over what is left');
    closeRedis(connection);
    await isDoneSoon(clock, Promise.all([worker.disconnect(), left]));
  }
}

async function isDoneSoon(clock: Clock, work: Promise<unknown>): Promise<boolean> {
  const done = () => true;
  return atMost(clock, LEAVING_MS, work.then(done, done), false);
}
