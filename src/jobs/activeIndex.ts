/**
 * The index of active sessions, requested as one text: ten thousand ids with a number each would be twenty thousand replies,
 * and parsing those takes as long as a check of ten thousand files.
 */
import type { Redis } from 'ioredis';
import { Script } from '../redis/script.js';
import type { Keys } from './keys.js';

/*
 * Purpose: read the index. Reads only.
 * KEYS: the index.
 * Returns: a line with the id and a line with the `rev` for each session. An id names a folder, so it has no end of line.
 */
const INDEX_SCRIPT = new Script(`
return table.concat(redis.call('ZRANGE', KEYS[1], '0', '-1', 'WITHSCORES'), '\\n')
`);

/** @returns active session ids with the `rev` of their records */
export async function readActiveIndex(redis: Redis, keys: Keys): Promise<Map<string, number>> {
  const lines = String(await INDEX_SCRIPT.run(redis, [keys.status('active')])).split('\n');
  const revisions = new Map<string, number>();
  for (let index = 0; index + 1 < lines.length; index += 2) revisions.set(lines[index] ?? '', Number(lines[index + 1]));
  return revisions;
}
