/** Who does something when a writer says that something is worth a look. */

import { hostOfLane } from '../../src/jobs/names.js';
import type { Store } from '../../src/jobs/store.js';
import { publishWake, type Wakes } from '../../src/jobs/wakes.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import { type Clock, SECOND } from '../../src/time.js';
import type { Accept } from '../intake/acceptMessage.js';
import type { JobQueue } from '../queue/pump.js';
import type { ChatParts } from './chat.js';

/** Before lanes are pumped for a lost job: one that is lost again and again must not become a storm. */
export const LOST_JOB_PAUSE_MS = SECOND;

const MOST_TRIES = 5;

export interface PumpParts {
  readonly queue: Pick<JobQueue, 'pump' | 'pumpLane' | 'enqueueJob' | 'remember'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly logger: Logger;
}

export interface DispatchParts extends PumpParts {
  readonly queue: PumpParts['queue'] & Pick<JobQueue, 'forget' | 'regainWaiting'>;
  /** Told of a waiting session that the store had forgotten, and that is stored again. */
  noteForgotten(sessionId: string): void;
}

export function wakeDispatch(wakes: Wakes, chat: ChatParts, pump: DispatchParts): Service {
  let unlisten = () => undefined as unknown;
  return {
    name: 'wakes of lanes and messages',
    async start() {
      unlisten = wakes.listen((wake) => {
        if (wake.outbox !== undefined) {
          pump.queue.forget(wake.outbox);
          chat.delivery.wake(wake.outbox);
        }
        if (wake.everything) chat.delivery.lookNow();
        if (wake.everything) void insist(pump, () => regainAndPump(pump));
        if (wake.lane !== undefined) void pumpSafely(pump, wake.lane);
      });
    },
    /** After the runs and before the chats: what the last runs left is brought while it can be. */
    async stop() {
      unlisten();
      await chat.delivery.lastLook();
    },
  };
}

/** The store may have forgotten what waits. */
async function regainAndPump({ queue, noteForgotten }: DispatchParts): Promise<void> {
  for (const sessionId of await queue.regainWaiting()) noteForgotten(sessionId);
  await queue.pump();
}

/** How the bridge of a host takes messages in: what may start there at once has its job, and nobody is woken for it. */
export function acceptHere(store: Store, host: string, pump: PumpParts): Accept {
  return async (draft, fence) => {
    const isOurs = hostOfLane(draft.lane) === host;
    const accepted = await store.transitions.accept(draft, { fence, isSeenTo: isOurs });
    const { session, isNew, isNext } = accepted;
    if (isNext && isOurs) void insist(pump, () => pump.queue.enqueueJob(session));
    else if (isNew && isOurs) pump.queue.remember(session);
    // Accepted before, perhaps by a try of whichever host whose answer was lost: then nobody saw to it.
    if (!isNew) void insist(pump, () => publishWake(store, { lane: session.lane }));
    return accepted;
  };
}

/** Never throws: what cannot be pumped within a few tries is pumped at the next wake or tick. */
export function pumpSafely(parts: PumpParts, lane?: string, head?: string): Promise<void> {
  const { queue } = parts;
  return insist(parts, () => (lane === undefined ? queue.pump() : queue.pumpLane(lane, head)));
}

/** A lane that its bridge sees to wakes nobody else, so one refusal of Redis must not leave it to the next tick. */
async function insist({ clock, logger }: PumpParts, work: () => Promise<unknown>): Promise<void> {
  for (let triesLeft = MOST_TRIES - 1; ; triesLeft -= 1) {
    try {
      await work();
      return;
    } catch (err) {
      if (triesLeft === 0) return logger.warn({ err }, 'lanes wait for the next tick');
      logger.debug({ err }, 'lanes are looked at again in a moment');
    }
    await new Promise<void>((resolve) => void clock.after(LOST_JOB_PAUSE_MS, resolve));
  }
}
