/** Checks whether Redis keeps what it is given. Read-only. */
import type { Redis } from 'ioredis';
import { type Clock, describeDuration, SECOND } from '../../src/time.js';
import { type CheckResult, fault, ok, skipped, warning } from './checkResult.js';

const CLOCK_WARNING_MS = SECOND;
const NEARLY_FULL = 0.9;

/** @param keepsNothing true for the JavaScript server, which has no settings to correct */
export async function checkRedis(
  redis: Redis,
  clock: Clock,
  watchdogLeaseMs: number,
  keepsNothing: boolean,
): Promise<CheckResult[]> {
  const info = readInfo(await redis.info());
  return [
    ok('redis', `${info.get('server_name') ?? 'redis'} ${versionOf(info)} answers`),
    checkEviction(info),
    checkPersistence(info, keepsNothing),
    checkMemory(info),
    checkRole(info),
    await checkClock(redis, clock, watchdogLeaseMs),
  ];
}

function checkEviction(info: ReadonlyMap<string, string>): CheckResult {
  const name = 'redis eviction';
  const policy = info.get('maxmemory_policy');
  if (policy === undefined) return skipped(name, 'this server does not report its maxmemory-policy');
  if (policy === 'noeviction') return ok(name, 'maxmemory-policy is noeviction');
  return fault(
    name,
    `maxmemory-policy is ${policy}: when memory runs out, Redis silently drops waiting messages`,
    'set `maxmemory-policy noeviction` in redis.conf, and apply it now with `redis-cli CONFIG SET maxmemory-policy noeviction`',
  );
}

function checkPersistence(info: ReadonlyMap<string, string>, keepsNothing: boolean): CheckResult {
  const name = 'redis persistence';
  const enabled = info.get('aof_enabled');
  if (keepsNothing || enabled === undefined) {
    return warning(
      name,
      keepsNothing
        ? 'the JavaScript server is used instead of Redis: accepted messages are lost when it ends'
        : 'this server does not report that it stores anything: accepted messages may be lost when it ends',
      'fine for a trial; for real work, install redis-server 6.2 or newer, or set REDIS_URL',
    );
  }
  if (enabled !== '1') {
    return fault(
      name,
      'the append-only file is off: messages that were accepted are lost when Redis ends',
      'set `appendonly yes` in redis.conf, and apply it now with `redis-cli CONFIG SET appendonly yes`',
    );
  }
  if (info.get('aof_last_write_status') === 'err') {
    return fault(
      name,
      'the append-only file cannot be written',
      'free space on the disk of the Redis server, and check the owner of its data folder; its log has the cause',
    );
  }
  return ok(name, 'the append-only file is on');
}

function checkMemory(info: ReadonlyMap<string, string>): CheckResult {
  const name = 'redis memory';
  const most = Number(info.get('maxmemory') ?? 0);
  const used = Number(info.get('used_memory') ?? 0);
  if (most === 0) return ok(name, `${megabytes(used)} used, no limit set`);
  const words = `${megabytes(used)} of ${megabytes(most)} used`;
  if (used < NEARLY_FULL * most) return ok(name, words);
  const remedy = 'raise `maxmemory`, or move other data elsewhere';
  return used < most
    ? warning(name, `${words}: when it is full, it will refuse every message`, remedy)
    : fault(name, `${words}: it is full and refuses every message`, remedy);
}

function checkRole(info: ReadonlyMap<string, string>): CheckResult {
  const name = 'redis role';
  if (info.get('role') !== 'slave') return ok(name, 'it accepts writes');
  return fault(name, 'this is a replica: it accepts no writes', 'set REDIS_URL to the address of the primary');
}

/** Processes write leases in their hosts' time; the clock of Redis represents the other host. */
async function checkClock(redis: Redis, clock: Clock, watchdogLeaseMs: number): Promise<CheckResult> {
  const name = 'clock';
  const before = clock.now();
  const [seconds, microseconds] = await redis.time();
  const between = (before + clock.now()) / 2;
  const apartMs = Math.abs(Number(seconds) * SECOND + Number(microseconds) / 1_000 - between);
  const words = `the clocks of this host and Redis differ by ${describeDuration(apartMs)}`;
  if (apartMs < CLOCK_WARNING_MS) return ok(name, words);
  const remedy =
    'synchronise the clocks (`timedatectl set-ntp true`, chrony or ntpd) of all hosts that share this Redis';
  return apartMs > watchdogLeaseMs / 2
    ? fault(name, `${words}: leases of living runs and watchdogs would appear expired`, remedy)
    : warning(name, words, remedy);
}

function versionOf(info: ReadonlyMap<string, string>): string {
  return info.get('valkey_version') ?? info.get('redis_version') ?? '(unknown version)';
}

function readInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
