import { Worker } from 'bullmq';
import { LaneStarter, type LaneStarterOptions } from '../../../bridge/queue/laneStarter.js';
import { type JobData, JobQueue, queueName } from '../../../bridge/queue/pump.js';
import { conversationKey, laneOf } from '../../../src/jobs/names.js';
import type { SessionDraft } from '../../../src/jobs/newRecords.js';
import { openStore } from '../../../src/jobs/store.js';
import { createLogger } from '../../../src/log/logger.js';
import { closeRedis, openRedis } from '../../../src/redis/connect.js';
import { systemClock } from '../../../src/time.js';
import { openTestRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';

export const HOST = 'host-a';
const SILENT = createLogger({ level: 'silent', redact: (text) => text, clock: systemClock, destinations: [] });

/** A host's queue in a Redis, without a worker. */
export async function openScene() {
  const { url, redis, prefix } = await openTestRedis();
  const store = openStore(redis, systemClock, prefix);
  const connection = openRedis(url, { purpose: 'commands', clock: systemClock });
  const blocking = openRedis(url, { purpose: 'blocking', clock: systemClock });
  const queues: JobQueue[] = [];
  const options = { connection: blocking, prefix: store.keys.bullPrefix, autorun: false };
  const worker = new Worker<JobData>(queueName(HOST), null, options);
  afterThisTest(async () => {
    await worker.close();
    for (const queue of queues) await queue.close();
    closeRedis(connection);
    closeRedis(blocking);
  });
  await connection.connect();
  return {
    url,
    store,
    connection,
    openQueue() {
      const queue = new JobQueue({ store, host: HOST, connection, clock: systemClock, logger: SILENT });
      queues.push(queue);
      return queue;
    },
    /** Takes a job as a worker does that is killed in the next instant. */
    take: () => worker.getNextJob('token', { block: false }),
    async accept(messageId: string, wakes = true): Promise<string> {
      return (await store.transitions.accept(draft(messageId), { wakes })).session.session_id;
    },
  };
}

export function draft(messageId: string, lane = laneOf(HOST, '/srv/popoto')): SessionDraft {
  return {
    session_id: `tg_popoto_1_${messageId}`,
    project_key: 'popoto',
    chat_id: '1',
    message_id: messageId,
    thread_id: null,
    sender: { id: '7', name: 'Ann' },
    message_text: `ask ${messageId}`,
    conversation_key: conversationKey('popoto', '1', null, 0),
    lane,
    working_directory: '/srv/popoto',
    agent: 'scripted',
  };
}

/** @param note called with each waiting session that the store had forgotten */
export function starterOf(
  queue: LaneStarterOptions['queue'],
  clock: LaneStarterOptions['clock'] = systemClock,
  note: (sessionId: string) => void = () => undefined,
): LaneStarter {
  return new LaneStarter({ queue, clock, logger: SILENT, forgotten: { note } });
}
