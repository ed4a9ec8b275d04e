/**
 * Finds the lanes worth checking without a request for each: while thousands of runs hold their lanes and nothing waits, that
 * is one request instead of thousands.
 */
import type { Redis } from 'ioredis';
import { Script } from '../redis/script.js';
import type { Keys } from './keys.js';

/*
 * Purpose: find the lanes of a host in which sessions wait, and those without a holder. If no session waits anywhere, only the
 * holders are read: building a lane's keys is the expensive part. Read-only.
 * KEYS: the set of the host's lanes; the index of waiting sessions.
 * ARGV: the prefixes of the keys of a lane's list and of its holder.
 * Returns: the lanes.
 */
const SCAN_SCRIPT = new Script(`
local found = {}
local waiting = redis.call('ZCARD', KEYS[2]) > 0
for _, lane in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  if redis.call('EXISTS', ARGV[2] .. lane) == 0 or (waiting and redis.call('LLEN', ARGV[1] .. lane) > 0) then
    found[#found + 1] = lane
  end
end
return found
`);

/** @returns the lanes of a host in which sessions wait, and those without a holder */
export async function lanesWorthALook(redis: Redis, keys: Keys, host: string): Promise<string[]> {
  const prefixes = [keys.lane(''), keys.laneHolder('')];
  return (await SCAN_SCRIPT.run(redis, [keys.lanes(host), keys.status('pending')], prefixes)) as string[];
}
