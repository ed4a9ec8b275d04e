/** What only one bridge may hold: its host id, its logs folder, its Redis; and its stores in there. */
import { ensureLogsFolderId } from '../../src/files/logsFolder.js';
import { claimSchema } from '../../src/jobs/schema.js';
import { openStore, type Store } from '../../src/jobs/store.js';
import { Wakes } from '../../src/jobs/wakes.js';
import { OnlyBridge } from '../health/onlyBridge.js';
import { JobQueue } from '../queue/pump.js';
import type { EmbeddedRedis } from '../redis/embeddedRedis.js';
import { Connections } from './connections.js';
import type { Foundation } from './foundation.js';
import { obtainRedis } from './obtainRedis.js';

export interface Ground {
  readonly only: OnlyBridge;
  readonly redis: Pick<EmbeddedRedis, 'url' | 'lost' | 'stop'>;
  readonly connections: Connections;
  close(): Promise<void>;
}

/**
 * @param stopping ends the wait for an unreachable Redis
 * @throws UsageError if a living bridge has the host id or owns the logs folder
 * @throws UnreachableError if no Redis is available
 */
export async function takeGround(foundation: Foundation, stopping: AbortSignal): Promise<Ground> {
  const { here, clock, logger, settings } = foundation;
  const { logsFolder, redisUrl } = settings;
  const only = new OnlyBridge({ here, clock, logger, logsFolder, redisUrl, stopping });
  await only.claimMachine();
  const redis = await obtainRedis(foundation, stopping);
  const connections = new Connections(() => redis.url, foundation, AbortSignal.any([stopping, redis.lost]));
  return {
    only,
    redis,
    connections,
    async close() {
      await only.stop();
      connections.closeAll();
      await redis.stop();
    },
  };
}

export interface BridgeStores {
  /** The id of the logs folder. */
  readonly logsId: string;
  readonly store: Store;
  /**
   * On the connection of the jobs. Redis answers the commands of one connection in order: a burst of messages must not delay
   * the runs' own commands.
   */
  readonly intakeStore: Store;
  readonly wakes: Wakes;
  readonly queue: JobQueue;
}

/** @throws UsageError if another bridge has the host id in this Redis */
export async function openStores({ settings, clock, logger }: Foundation, ground: Ground): Promise<BridgeStores> {
  const { connections, only } = ground;
  const logsId = await ensureLogsFolderId(settings.logsFolder, clock);
  const store = openStore(await connections.open('commands'), clock);
  await claimSchema(store.redis, store.keys);
  await only.claim(store.leases);
  const wakes = new Wakes(await connections.open('subscriber'), store.keys);
  const connection = await connections.open('commands');
  const queue = new JobQueue({ store, host: settings.host, connection, clock, logger });
  return { logsId, store, intakeStore: openStore(connection, clock), wakes, queue };
}
