/** For commands that only look or ask: a store for as long as they take. */
import type { Settings } from '../../src/config/settings.js';
import { requireReadable } from '../../src/jobs/schema.js';
import { openStore, type Store } from '../../src/jobs/store.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import { Connections } from '../redis/connections.js';
import { redisUrlOf } from '../redis/endpoint.js';
import { type Foundation, layFoundation } from './foundation.js';

/** @throws UnreachableError if no Redis can be found */
export async function withStore<T>(
  settings: Settings,
  work: (parts: { store: Store; foundation: Foundation }) => Promise<T>,
): Promise<T> {
  const quiet: TerminalStream = { write: () => true, on: () => undefined };
  const foundation = layFoundation(settings, quiet, null);
  const { outage, clock } = foundation;
  const connections = new Connections(() => redisUrlOf(settings), outage, clock);
  try {
    const store = openStore(await connections.open('commands'), clock);
    await requireReadable(store.redis, store.keys);
    return await work({ store, foundation });
  } finally {
    connections.closeAll();
  }
}
