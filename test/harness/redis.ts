import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { Store } from '../../src/jobs/store.js';
import { closeRedis, openRedis } from '../../src/redis/connect.js';
import { systemClock } from '../../src/time.js';
import { afterThisTest } from './scope.js';

const URL_NAME = 'WATCHKEEPER_TEST_REDIS_URL';
const PROGRAMS = ['redis-server', 'valkey-server'];
const NO_PROGRAM = 'skipped: neither redis-server nor valkey-server is on PATH';
const SCAN_COUNT = 500;

export interface TestRedis {
  /** For parts that open their own connections. */
  readonly url: string;
  readonly redis: Redis;
  /** `t3f9a…:`; every key of the test begins with it. BullMQ takes it as its `prefix`. */
  readonly prefix: string;
}

/** @returns the URL of the run's real Redis, null where none is on PATH */
export function testRedisUrl(): string | null {
  return process.env[URL_NAME] ?? null;
}

/** `describe` for tests that start a Redis of their own; skipped with the reason where no program for it is on PATH. */
export function describeWithRedisProgram(name: string, tests: () => void): void {
  const folders = (process.env.PATH ?? '').split(delimiter);
  if (folders.some((folder) => PROGRAMS.some((program) => existsSync(join(folder, program))))) describe(name, tests);
  else describe.skip(`${name} (${NO_PROGRAM})`, tests);
}

/** `describe` for tests that need a real Redis; they are skipped, and say why, where none is on PATH. */
export function describeWithRedis(name: string, tests: () => void): void {
  if (testRedisUrl() !== null) describe(name, tests);
  else describe.skip(`${name} (${NO_PROGRAM})`, tests);
}

/** As FLUSHALL does it to a server that is nobody else's. */
export async function forgetAll({ redis, keys }: Pick<Store, 'redis' | 'keys'>): Promise<void> {
  const found = await redis.keys(keys.pattern.replaceAll(/[[\]?]/g, '\\$&'));
  if (found.length > 0) await redis.del(...found);
}

/**
 * Opens a connection for one test. Closed after it; its keys are wiped when the test passed, and written to a file when it
 * failed.
 * @param url another server than the run's own, for example the JavaScript one
 */
export async function openTestRedis(url: string | null = testRedisUrl()): Promise<TestRedis> {
  if (url === null) throw new Error('no Redis for tests: wrap the suite in describeWithRedis');
  const redis = openRedis(url, { purpose: 'commands', clock: systemClock });
  await redis.connect();
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  afterThisTest(async (passed) => {
    // The test may have closed its own.
    const sweeper = openRedis(url, { purpose: 'commands', clock: systemClock });
    try {
      if (passed) await wipe(sweeper, prefix);
      else await leaveEvidence(sweeper, prefix);
    } finally {
      closeRedis(sweeper);
      closeRedis(redis);
    }
  });
  return { url, redis, prefix };
}

async function keysBelow(redis: Redis, prefix: string): Promise<string[]> {
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', SCAN_COUNT);
    for (const key of keys) found.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...found].sort();
}

async function wipe(redis: Redis, prefix: string): Promise<void> {
  const keys = await keysBelow(redis, prefix);
  for (let from = 0; from < keys.length; from += SCAN_COUNT) await redis.del(...keys.slice(from, from + SCAN_COUNT));
}

async function leaveEvidence(redis: Redis, prefix: string): Promise<void> {
  const evidence: Record<string, unknown> = {};
  for (const key of await keysBelow(redis, prefix)) evidence[key] = await readKey(redis, key);
  const file = join(tmpdir(), `wk-redis-evidence-${prefix.slice(0, -1)}.json`);
  writeFileSync(file, `${JSON.stringify(evidence, null, 1)}\n`);
  process.stderr.write(`evidence of the failed test: ${file} (also in Redis below ${prefix})\n`);
}

async function readKey(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  switch (type) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      return type;
  }
}
