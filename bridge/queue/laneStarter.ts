/** Decides which session may start next in a lane of this host, whenever a message is accepted or a lane is freed. */
import { hostOfLane } from '../../src/jobs/names.js';
import type { Lanes } from '../../src/jobs/ports.js';
import type { Store } from '../../src/jobs/store.js';
import { publishWake } from '../../src/jobs/wakes.js';
import type { Logger } from '../../src/log/logger.js';
import { type Clock, SECOND } from '../../src/time.js';
import type { Accept } from '../intake/acceptMessage.js';
import type { JobQueue } from './pump.js';

/** How long a lost job rests before it is added again, so that one that is lost again and again causes no storm. */
export const LOST_JOB_PAUSE_MS = SECOND;

const MOST_TRIES = 5;

export interface LaneStarterOptions {
  readonly queue: Pick<JobQueue, 'pump' | 'pumpLane' | 'enqueueJob' | 'waiting' | 'regainWaiting' | 'hasOthersIn'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Notes each waiting session that the store had forgotten, once it is stored again. */
  readonly forgotten: { note(sessionId: string): void };
}

/** Its promises never reject: a lane that cannot be started within a few tries is started at the next wake or tick. */
export class LaneStarter implements Lanes {
  readonly #options: LaneStarterOptions;

  constructor(options: LaneStarterOptions) {
    this.#options = options;
  }

  /** @param next the session known to be at the head of the free lane */
  startNext(lane: string, next?: string): Promise<void> {
    return this.#insist(() => this.#options.queue.pumpLane(lane, next));
  }

  startAll(): Promise<void> {
    return this.#insist(() => this.#options.queue.pump());
  }

  startAllSoon(): void {
    this.#options.clock.after(LOST_JOB_PAUSE_MS, () => void this.startAll());
  }

  /** As {@link startAll}, after the store may have forgotten waiting messages. */
  restoreAndStartAll(): Promise<void> {
    const { queue, forgotten } = this.#options;
    return this.#insist(async () => {
      for (const sessionId of await queue.regainWaiting()) forgotten.note(sessionId);
      await queue.pump();
    });
  }

  /** The session has a final message: it no longer waits. */
  forget(sessionId: string): void {
    this.#options.queue.waiting.delete(sessionId);
  }

  /** How the intake stores a message, perhaps over its own connection: lanes of this host start without a wake. */
  acceptor(store: Store, host: string): Accept {
    const { queue } = this.#options;
    return async (draft, fence, pieces) => {
      const isHere = hostOfLane(draft.lane) === host;
      const accepted = await store.transitions.accept(draft, { fence, pieces, wakes: !isHere });
      const { session, isNew, isNext } = accepted;
      // The store has forgotten who waits there, and they come first.
      if (isNext && isHere && queue.hasOthersIn(session)) {
        queue.waiting.keep(session);
        void this.restoreAndStartAll();
      } else if (isNext && isHere) void this.#insist(() => queue.enqueueJob(session));
      else if (isNew && isHere) queue.waiting.keep(session);
      // An earlier try stored it, and its answer was lost: perhaps it was never started.
      if (!isNew) void this.#insist(() => publishWake(store, { lane: session.lane }));
      return accepted;
    };
  }

  /** Only this process starts the lanes of this host, so one refusal by Redis must not leave a lane to the next tick. */
  async #insist(work: () => Promise<unknown>): Promise<void> {
    const { clock, logger } = this.#options;
    for (let triesLeft = MOST_TRIES - 1; ; triesLeft -= 1) {
      try {
        await work();
        return;
      } catch (err) {
        if (triesLeft === 0) return logger.warn({ err }, 'lanes wait for the next round');
        logger.debug({ err }, 'lanes will be checked again in a moment');
      }
      await new Promise<void>((resolve) => void clock.after(LOST_JOB_PAUSE_MS, resolve));
    }
  }
}
