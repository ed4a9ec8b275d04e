/** Everything that is asked of Redis, over connections that are closed afterwards. */
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Settings } from '../../src/config/settings.js';
import { counted } from '../../src/counted.js';
import { describeError, UnreachableError, UsageError } from '../../src/errors.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import type { Keys } from '../../src/jobs/keys.js';
import { isDelivered } from '../../src/jobs/model.js';
import { readSchema, requireReadable } from '../../src/jobs/schema.js';
import { openStore, type Store } from '../../src/jobs/store.js';
import { type ConnectionPurpose, closeRedis, connectOrExplain, openRedis } from '../../src/redis/connect.js';
import { type Clock, spokenDuration } from '../../src/time.js';
import { NotedStarts } from '../health/notedStarts.js';
import { findEmbeddedRedis, readEndpoint } from '../redis/endpoint.js';
import { findServerProgram } from '../redis/programs.js';
import { type CheckResult, fault, ok, skipped, warning, within } from './checkResult.js';
import {
  checkBridge,
  checkCanary,
  checkLanes,
  checkOwedEvents,
  checkRestarts,
  checkSetAside,
  unlessDead,
} from './queueChecks.js';
import { checkRedis } from './redisChecks.js';
import type { OwnBridge } from './telegramChecks.js';

export interface RedisExamination {
  readonly checks: readonly CheckResult[];
  /** False if a Redis should answer and does not. */
  readonly isReachable: boolean;
  readonly ownBridge: OwnBridge;
}

export interface RedisExaminationOptions {
  readonly clock: Clock;
  readonly limitMs: number;
  /** Null without Telegram. */
  readonly botId: string | null;
  /** Whether a job may be added, which writes. */
  readonly mayWrite: boolean;
}

const UNKNOWN: OwnBridge = { presence: null, isKnown: false };
const NONE: OwnBridge = { presence: null, isKnown: true };

export async function examineRedis(settings: Settings, options: RedisExaminationOptions): Promise<RedisExamination> {
  const opened: Redis[] = [];
  const open = async (url: string, purpose: ConnectionPurpose) => {
    const redis = openRedis(url, { purpose, clock: options.clock });
    opened.push(redis);
    await connectOrExplain(redis, url);
    return redis;
  };
  try {
    // A bridge with its own Redis would have left its mark, so none of ours is running here.
    if (settings.redisUrl === null && readEndpoint(join(settings.logsFolder, 'redis')) === null) {
      return { checks: await checkRedisToCome(settings.programPath), isReachable: true, ownBridge: NONE };
    }
    return await within(lookInside(settings, options, open), options.limitMs, options.clock);
  } catch (error) {
    const isReachable = !(error instanceof UnreachableError);
    return { checks: [complaint(error, settings)], isReachable, ownBridge: UNKNOWN };
  } finally {
    for (const redis of opened) closeRedis(redis);
  }
}

async function lookInside(
  settings: Settings,
  { clock, botId, mayWrite }: RedisExaminationOptions,
  open: (url: string, purpose: ConnectionPurpose) => Promise<Redis>,
): Promise<RedisExamination> {
  const { redisUrl, logsFolder } = settings;
  const { url, persistent } = redisUrl === null ? findEmbeddedRedis(logsFolder) : { url: redisUrl, persistent: true };
  const commands = await open(url, 'commands');
  const store = openStore(commands, clock);
  const here = readProcessIdentity(settings.host);
  const presence = botId === null ? null : unlessDead(await store.presences.ofBot(botId), here);
  const checks = await checkRedis(commands, clock, settings.timings.watchdogLeaseMs, !persistent);
  checks.push(await checkSchema(commands, store.keys));
  if (mayWrite) checks.push(await checkCanary(commands, await open(url, 'blocking'), store.keys.bullPrefix, clock));
  checks.push(
    await checkBridge(store, here, clock),
    await checkLanes(store, here.host),
    await checkRestarts(store, here.host, new NotedStarts(logsFolder, here.host, clock)),
    await checkOwedEvents(store, settings.logsFolder),
    await checkSetAside(store),
    await checkDeliveries(store, clock),
    ...(await checkReports(store, clock)),
  );
  return { checks, isReachable: true, ownBridge: { presence, isKnown: true } };
}

async function checkSchema(redis: Redis, keys: Keys): Promise<CheckResult> {
  const name = 'schema';
  try {
    await requireReadable(redis, keys);
    const found = await readSchema(redis, keys);
    return ok(
      name,
      found === null ? 'no schema version is stored yet' : `the records have schema version ${found.version}`,
    );
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return fault(
      name,
      error.message,
      'install the version that wrote these records, or restore a backup: docs/upgrade.md',
    );
  }
}

/** Before the first start: the Redis that a bridge would start. */
async function checkRedisToCome(programPath: string): Promise<CheckResult[]> {
  const name = 'redis';
  try {
    const program = await findServerProgram(programPath);
    if (program === null) {
      return [
        warning(
          name,
          'REDIS_URL is not set, and neither redis-server nor valkey-server is on PATH: the bridge will start a JavaScript server, which stores nothing permanently and is slow',
          'fine for a trial; for real work, install redis-server 6.2 or newer, or set REDIS_URL',
        ),
      ];
    }
    const words = `REDIS_URL is not set and no bridge is using this logs folder; it will start ${program.path}`;
    return [ok(name, words), skipped('queue', 'needs a running bridge')];
  } catch (error) {
    return [fault(name, describeError(error), 'install redis-server 6.2 or newer, or set REDIS_URL')];
  }
}

function complaint(error: unknown, { redisUrl }: Settings): CheckResult {
  const remedy =
    redisUrl === null
      ? 'start `watchkeeper bridge`, which starts a Redis, or set REDIS_URL'
      : 'start that server, or correct REDIS_URL (address, user, password)';
  return fault('redis', describeError(error), remedy);
}

export async function checkReports(store: Pick<Store, 'reportTroubles'>, clock: Clock): Promise<CheckResult[]> {
  return (await store.reportTroubles.all()).map(({ place, since, words }) =>
    fault(
      `reports ${place}`,
      `no report was taken for ${spokenDuration(clock.now() - since)}: ${words}`,
      'do what GitHub asks for, then restart the bridge, or run `watchkeeper reload` if its token is the same: the reports of the last day follow, and then this line goes',
    ),
  );
}

/** Fewer are a moment's trouble. */
const FEWEST_TRIES = 3;
const MOST_NAMED = 3;

async function checkDeliveries({ records }: Pick<Store, 'records'>, clock: Clock): Promise<CheckResult> {
  const name = 'answers';
  const held = (await records.outboxEntries())
    .filter(({ state, tries, last_error }) => !isDelivered(state) && tries >= FEWEST_TRIES && last_error !== null)
    .sort((one, other) => one.created_at - other.created_at);
  const [oldest] = held;
  if (oldest === undefined) return ok(name, 'no final message is held up');
  const waits = `the oldest for ${spokenDuration(clock.now() - oldest.created_at)}`;
  const named = held.slice(0, MOST_NAMED).map(({ session_id, last_error }) => `${session_id}: ${last_error}`);
  const more = held.length > MOST_NAMED ? [`${held.length - MOST_NAMED} more`] : [];
  return warning(
    name,
    `${counted(held.length, 'final message')} could not be sent yet, ${waits}: ${[...named, ...more].join('; ')}`,
    'do what the chat asks for, such as giving the bot its right to write there back; each is tried again for a day',
  );
}
