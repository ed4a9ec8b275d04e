/** Who does something when a writer says that something is worth a look. */
import type { Logger } from '../../src/logger.js';
import type { Service } from '../../src/service.js';
import type { Wakes } from '../../src/store/wakes.js';
import { SECOND } from '../../src/time.js';
import type { JobQueue } from '../queue/pump.js';
import type { ChatParts } from './chat.js';

/** Before lanes are pumped for a lost job: one that is lost again and again must not become a storm. */
export const LOST_JOB_PAUSE_MS = SECOND;

export function wakeDispatch(wakes: Wakes, queue: JobQueue, chat: ChatParts, logger: Logger): Service {
  let unlisten = () => undefined as unknown;
  return {
    name: 'wakes of lanes and messages',
    async start() {
      unlisten = wakes.listen((wake) => {
        if ('outbox' in wake) chat.delivery.wake(wake.outbox);
        if ('everything' in wake) chat.delivery.lookNow();
        if ('everything' in wake) void pumpSafely(queue, logger);
        if ('lane' in wake) void pumpSafely(queue, logger, wake.lane);
      });
    },
    /** After the runs and before the chats: what the last runs left is brought while it can be. */
    async stop() {
      unlisten();
      await chat.delivery.lastLook();
    },
  };
}

/** Never throws: what cannot be pumped now is pumped at the next wake or tick. */
export async function pumpSafely(queue: JobQueue, logger: Logger, lane?: string): Promise<void> {
  try {
    await (lane === undefined ? queue.pump() : queue.pumpLane(lane));
  } catch (err) {
    logger.warn({ err }, 'lanes wait for the next tick');
  }
}
