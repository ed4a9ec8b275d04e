/** The parts that only one bridge may hold: its host id, its logs folder, its Redis; and its stores in there. */
import { ensureLogsFolderId } from '../../src/files/logsFolder.js';
import { claimSchema } from '../../src/jobs/schema.js';
import { openStore } from '../../src/jobs/store.js';
import { Wakes } from '../../src/jobs/wakes.js';
import { OnlyBridge } from '../health/onlyBridge.js';
import { JobQueue } from '../queue/pump.js';
import { Connections } from '../redis/connections.js';
import { obtainRedis } from '../redis/obtainRedis.js';
import type { Foundation } from './foundation.js';

export type Ground = Awaited<ReturnType<typeof takeGround>>;
export type BridgeStores = Awaited<ReturnType<typeof openStores>>;

/** @throws UsageError if a living bridge has the host id or owns the logs folder; UnreachableError if no Redis is available */
export async function takeGround({ here, clock, logger, settings, outage }: Foundation, stopping: AbortSignal) {
  const { logsFolder, redisUrl } = settings;
  const only = new OnlyBridge({ here, clock, logger, logsFolder, redisUrl, stopping });
  await only.claimMachine();
  const redis = await obtainRedis(settings, clock, logger, stopping);
  const given = AbortSignal.any([stopping, redis.lost]);
  const connections = new Connections(() => redis.url, outage, clock, given);
  // No need to wait for answers that cannot come.
  redis.lost.addEventListener('abort', () => connections.closeAll(), { once: true });
  const close = async () => {
    await only.stop();
    connections.closeAll();
    await redis.stop();
  };
  return { only, redis, connections, close };
}

/** The intake has its own connection: a burst of messages must not delay the runs. @throws UsageError if the host id is taken */
export async function openStores({ settings, clock, logger }: Foundation, { connections, only }: Ground) {
  const { host, logsFolder } = settings;
  const logsId = await ensureLogsFolderId(logsFolder, clock);
  const store = openStore(await connections.open('commands'), clock);
  await claimSchema(store.redis, store.keys);
  await only.claim(store.leases);
  const wakes = new Wakes(await connections.open('subscriber'), store.keys);
  const connection = await connections.open('commands');
  const queue = new JobQueue({ store, host, connection, clock, logger });
  return { logsId, store, intakeStore: openStore(connection, clock), wakes, queue };
}
