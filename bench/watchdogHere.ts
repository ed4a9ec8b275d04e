/** The watchdog with all its parts, in this process. */
import { PassThrough } from 'node:stream';
import { buildChat } from '../bridge/assembly/chat.js';
import { buildEvents, layFoundation } from '../bridge/assembly/foundation.js';
import { buildWatchdog } from '../bridge/assembly/watchdog.js';
import { JobQueue } from '../bridge/queue/pump.js';
import type { SessionWatchdog } from '../monitoring/sessionWatchdog.js';
import { Wakes } from '../src/jobs/wakes.js';
import { closeRedis, openRedis } from '../src/redis/connect.js';
import { systemClock } from '../src/time.js';
import type { Scene } from './scene.js';

/** Calls `work` with a watchdog that acts but does not tick by itself. */
export async function withWatchdog(
  { environment, settings, store }: Pick<Scene, 'environment' | 'settings' | 'store'>,
  work: (watchdog: SessionWatchdog) => Promise<void>,
): Promise<void> {
  const silent = new PassThrough().resume();
  const foundation = layFoundation(settings, silent, 'watchdog.log');
  const connect = () => openRedis(environment.REDIS_URL ?? '', { purpose: 'commands', clock: systemClock });
  const connections = [connect(), connect()] as const;
  await Promise.all(connections.map((connection) => connection.connect()));
  const queue = new JobQueue({
    store,
    host: settings.host,
    connection: connections[0],
    clock: systemClock,
    logger: foundation.logger,
  });
  const events = buildEvents(foundation, store);
  const stopped = new AbortController();
  const chat = buildChat(foundation, store, events, null);
  const { watchdog, lease, saga } = buildWatchdog(foundation, {
    store,
    wakes: new Wakes(connections[1], store.keys),
    queue,
    events,
    chat,
    standsBy: true,
    stopping: stopped.signal,
  });
  try {
    await lease.start();
    await work(watchdog);
  } finally {
    stopped.abort();
    await saga.settle();
    await lease.stop();
    await queue.close();
    for (const connection of connections) closeRedis(connection);
  }
}
