/** The runs of this bridge: begins them, handles requests to end them, and ends them all in an orderly stop. */
import { limitMarkOf } from '../../src/host/marks.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Wakes } from '../../src/jobs/wakes.js';
import type { Service } from '../../src/service.js';
import { atMost, describeDuration, SECOND } from '../../src/time.js';
import { RecentEnds } from './forgotten.js';
import type { RunContext } from './runContext.js';
import { RunJob } from './runJob.js';
import { SweptLanes } from './sweptLanes.js';

/** How long storing the ends may take after the last process is gone. */
const STORING_MS = 5 * SECOND;

interface LiveRun {
  readonly job: RunJob;
  readonly ended: Promise<unknown>;
}

export class Runner implements Service {
  readonly name = 'runs';
  readonly #context: RunContext;
  readonly #wakes: Wakes;
  readonly #live = new Map<string, LiveRun>();
  readonly #ends: RecentEnds;
  readonly #lanes: SweptLanes;
  readonly #givingUp = new AbortController();
  #isOpen = false;
  #unlisten: () => void = () => undefined;

  constructor(context: RunContext, wakes: Wakes) {
    this.#context = context;
    this.#wakes = wakes;
    this.#ends = new RecentEnds(context, (id) => this.#live.has(id) || context.waiting.has(id));
    this.#lanes = new SweptLanes(context);
  }

  /** @returns whether the session runs or waits here, or ended here recently */
  knows(sessionId: string): boolean {
    return this.#live.has(sessionId) || this.#context.waiting.has(sessionId) || this.#ends.has(sessionId);
  }

  async start(): Promise<void> {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#unlisten = this.#wakes.listen((wake) => {
      if (wake.stop !== undefined) this.#hearStopRequest(wake.stop);
      if (wake.outbox !== undefined) this.#hearFinal(wake.outbox);
      if (wake.everything) this.#remindStore();
    });
  }

  /** Lets short runs finish, interrupts the rest, and returns when every end is stored. */
  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { logger, settings } = this.#context;
    const { drainMs, killGraceMs } = settings.timings;
    if (this.#live.size > 0)
      logger.info(`runs may finish within ${describeDuration(drainMs)}: ${[...this.#live.keys()].join(', ')}`);
    await this.#allEnded(drainMs);
    for (const { job } of this.#live.values()) job.stop('shutdown');
    await this.#allEnded(2 * killGraceMs + STORING_MS);
    this.#givingUp.abort();
    await this.#allEnded(STORING_MS);
    this.#unlisten();
    if (this.#live.size > 0)
      logger.error({ sessions: [...this.#live.keys()] }, 'runs are left behind; the reaper ends them');
  }

  /** For a caller that cannot wait for an orderly stop: kills every run, and returns when every end is stored. */
  async killAll(): Promise<void> {
    this.#isOpen = false;
    const { logger } = this.#context;
    const sessions = [...this.#live.keys()];
    if (sessions.length > 0)
      logger.warn({ sessions }, `runs are ended now and put back into the queue: ${sessions.join(', ')}`);
    for (const { job } of this.#live.values()) job.kill();
    await this.#allEnded(STORING_MS);
  }

  /** And, while it `hasRoom`, the sessions behind it in its lane. @returns when all their ends are stored */
  async execute(sessionId: string, hasRoom: () => boolean): Promise<void> {
    const session = await this.#sessionOf(sessionId);
    for (let head = session; head !== null; ) {
      const next = await this.#run(head);
      if (next === null) return;
      const { lane } = head;
      head = hasRoom() ? await this.#dueNow(next) : null;
      if (head === null) void this.#context.lanes.startNext(lane, next);
    }
  }

  /** Waits for a former run that is just ending: a session put back at its lane's head is run again. */
  async #sessionOf(sessionId: string): Promise<AgentSession | null> {
    const former = this.#live.get(sessionId);
    if (former?.job.isEnding) await former.ended.catch(() => undefined);
    // The session that is asked for runs here or has ended here, so the store may have forgotten it.
    else if (former?.job.hasBegun) await this.#keepOrEnd(former);
    if (this.#ends.has(sessionId)) await this.#ends.storeAgain();
    return this.#context.waiting.take(sessionId) ?? (await this.#context.store.records.session(sessionId));
  }

  /** @returns the session; null if it cannot begin now, and the process that makes jobs should check the lane */
  async #dueNow(sessionId: string): Promise<AgentSession | null> {
    const session = await this.#sessionOf(sessionId).catch(() => null);
    const isDue = session?.status === 'pending' && (session.not_before ?? 0) <= this.#context.clock.now();
    return isDue ? session : null;
  }

  async #run(session: AgentSession): Promise<string | null> {
    const { session_id, lane } = session;
    if (session.status !== 'pending') return null;
    if (await this.#context.directories.follow(session)) return null;
    // The directory watch makes a new job when the directory is back.
    const mustWait =
      !(await this.#isEmpty(lane)) || (await this.#context.directories.mustWait(session.working_directory));
    // Nothing is awaited from here on: another job may exist for the same session.
    if (this.#live.has(session_id)) return null;
    // The start detects changes in the store; it does not detect changes here.
    const mayBegin = this.#isOpen && !this.#context.leaving.aborted;
    if (mustWait || !mayBegin || this.#inLane(lane) !== undefined) return this.#keepWaiting(session_id);
    this.#context.waiting.began(session);
    const job = new RunJob(this.#context, session, this.#ends);
    const ended = job.run(this.#givingUp.signal).finally(() => this.#live.delete(session_id));
    this.#live.set(session_id, { job, ended });
    return ended;
  }

  /** The session is not kept in memory any more, and the store may forget it. */
  async #keepWaiting(sessionId: string): Promise<null> {
    const session = await this.#context.store.records.session(sessionId).catch(() => null);
    if (session?.status === 'pending') this.#context.waiting.keep(session);
    return null;
  }

  /** @returns whether no process of another run is alive in the lane, whatever the store says */
  async #isEmpty(lane: string): Promise<boolean> {
    const rival = this.#inLane(lane);
    if (rival !== undefined && (await this.#keepOrEnd(rival))) return false;
    return this.#lanes.sweep(lane, (limit) =>
      [...this.#live.values()].some(({ job }) => limitMarkOf(job.runId) === limit),
    );
  }

  /** @returns true if the run continues; otherwise false, when its end is stored */
  async #keepOrEnd({ job, ended }: LiveRun): Promise<boolean> {
    if (!job.isEnding && (await job.reclaim())) return true;
    // A run that ended during the reclaim is not reclaimed, and lost nothing.
    if (!job.isEnding) job.stop('lease_lost');
    await ended.catch(() => undefined);
    return false;
  }

  #inLane(lane: string): LiveRun | undefined {
    for (const run of this.#live.values()) if (run.job.hasBegun && run.job.lane === lane) return run;
    return undefined;
  }

  /** The store was unavailable, and may have lost its last moment. If this fails, each run tries again at its renewal. */
  #remindStore(): void {
    this.#lanes.doubt();
    const { logger } = this.#context;
    const running = () => Promise.all([...this.#live.values()].map(({ job }) => job.hasBegun && job.reclaim()));
    this.#ends
      .storeAgain()
      .then(running)
      .catch((err: unknown) => logger.debug({ err }, 'what Redis may have forgotten will be reported again later'));
  }

  /** The wake only names the session; the record says what is requested, and for which run. */
  #hearStopRequest(sessionId: string): void {
    const { store, logger } = this.#context;
    const job = this.#live.get(sessionId)?.job;
    if (job === undefined) return;
    store.records.session(sessionId).then(
      (session) => session?.stop?.run_id === job.runId && job.stop('requested'),
      (err: unknown) =>
        logger.warn({ err, session_id: sessionId }, 'a stop request will be noticed at the next renewal'),
    );
  }

  /** The final message of a session that did not run here may be that of a cancellation, which a store may forget. */
  #hearFinal(sessionId: string): void {
    if (this.#live.has(sessionId) || this.#ends.has(sessionId)) return;
    this.#context.store.records.session(sessionId).then(
      (session) => {
        if (session?.status !== 'cancelled' || this.#ends.has(sessionId)) return;
        this.#ends.noteWithdrawn(session);
        this.#context.logger.debug({ session_id: sessionId }, `session ${sessionId}: its cancellation is remembered`);
      },
      (err: unknown) => this.#context.logger.debug({ err, session_id: sessionId }, 'a final message is not remembered'),
    );
  }

  async #allEnded(withinMs: number): Promise<void> {
    const all = Promise.allSettled([...this.#live.values()].map(({ ended }) => ended));
    await atMost(this.#context.clock, withinMs, all, undefined);
  }
}
