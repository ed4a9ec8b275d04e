/** Who does something when a writer says that something is worth a look. */
import type { Logger } from '../../src/logger.js';
import type { Service } from '../../src/service.js';
import { hostOfLane } from '../../src/store/names.js';
import type { Store } from '../../src/store/store.js';
import type { Wakes } from '../../src/store/wakes.js';
import { SECOND } from '../../src/time.js';
import type { Accept } from '../intake/acceptMessage.js';
import type { JobQueue } from '../queue/pump.js';
import type { ChatParts } from './chat.js';

/** Before lanes are pumped for a lost job: one that is lost again and again must not become a storm. */
export const LOST_JOB_PAUSE_MS = SECOND;

/** @param host this bridge's: it sees by itself to what it accepts, and to a lane whose run it ended */
export function wakeDispatch(wakes: Wakes, host: string, queue: JobQueue, chat: ChatParts, logger: Logger): Service {
  let unlisten = () => undefined as unknown;
  return {
    name: 'wakes of lanes and messages',
    async start() {
      unlisten = wakes.listen((wake) => {
        if (wake.outbox !== undefined) chat.delivery.wake(wake.outbox);
        if (wake.everything) chat.delivery.lookNow();
        if (wake.everything) void pumpSafely(queue, logger);
        if (wake.lane !== undefined && wake.by !== host) void pumpSafely(queue, logger, wake.lane);
      });
    },
    /** After the runs and before the chats: what the last runs left is brought while it can be. */
    async stop() {
      unlisten();
      await chat.delivery.lastLook();
    },
  };
}

/** How the bridge of a host takes messages in: what may start at once has its job before anybody is woken. */
export function acceptHere({ transitions }: Store, host: string, queue: JobQueue, logger: Logger): Accept {
  return async (draft, fence) => {
    const isOurs = hostOfLane(draft.lane) === host;
    const accepted = await transitions.accept(draft, { fence, by: isOurs ? host : null });
    if (accepted.isNext && isOurs) void tillNextTick(logger, () => queue.enqueueJob(accepted.session));
    // Accepted before, perhaps by a try whose answer was lost: then nobody saw to it.
    else if (!accepted.isNew) void pumpSafely(queue, logger, accepted.session.lane);
    return accepted;
  };
}

/** Never throws: what cannot be pumped now is pumped at the next wake or tick. */
export function pumpSafely(queue: JobQueue, logger: Logger, lane?: string): Promise<void> {
  return tillNextTick(logger, () => (lane === undefined ? queue.pump() : queue.pumpLane(lane)));
}

async function tillNextTick(logger: Logger, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (err) {
    logger.warn({ err }, 'lanes wait for the next tick');
  }
}
