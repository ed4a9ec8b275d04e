/** Opens connections to Redis; no other part of the product does. */

import { Redis, type RedisOptions } from 'ioredis';
import { errorCode, isOwnTrouble, UnreachableError, UsageError, wordsOf } from '../errors.js';
import { type Backoff, type Clock, describeDuration, pauseAfter, SECOND, type Timer } from '../time.js';

const RETRY: Backoff = { firstMs: 50, longestMs: 2 * SECOND };
const CONNECT_LIMIT_MS = 5 * SECOND;
/** The limit of a whole command, even on a server that accepts connections and then does not reply. */
const COMMAND_LIMIT_MS = 10 * SECOND;
/**
 * A connection that returns nothing at all after a request is given up, whatever TCP says: a device in between may have
 * forgotten it, while a new one would work. A worker's request for jobs normally takes 10 s.
 */
const SILENT_LIMIT_MS = 10 * SECOND;
const SILENT_BLOCKING_LIMIT_MS = 15 * SECOND;
/** So that a dead connection is noticed before it is needed. */
const ASK_EVERY_MS = 5 * SECOND;
/** After a failover the address may belong to another server, the new primary. */
const LOOK_FOR_PRIMARY_EVERY_MS = 5 * SECOND;
/** The number of reconnects after which a waiting command fails: 50, 100, 200, 400 and 800 ms apart. */
const COMMAND_RETRIES = 5;
const MOST_GATHERED_BYTES = 16 * 1024;
const OLDEST_VERSION = [6, 2] as const;

/**
 * - `commands`: a command fails after {@link COMMAND_LIMIT_MS} at the latest, so that nothing hangs silently while Redis is
 *   away. Its answer may be lost then although it was executed. A command that was sent on a connection that broke is sent
 *   again on the next one. So commands must be safe to repeat.
 * - `blocking`: waits for ever, as BullMQ's workers demand.
 * - `subscriber`: waits for ever; subscriptions are restored by themselves, messages in between are lost.
 */
export type ConnectionPurpose = 'commands' | 'blocking' | 'subscriber';

export interface ConnectionNews {
  readonly kind: 'away' | 'back';
  /** A sentence for the log, without secrets. */
  readonly words: string;
}

export interface OpenOptions {
  readonly purpose: ConnectionPurpose;
  /** Measures how long Redis was unavailable. */
  readonly clock: Clock;
  /** Called once when Redis becomes unavailable, and once when it is back. */
  readonly onNews?: (news: ConnectionNews) => void;
}

/** Replies keep the classic shapes. */
type ConnectionSettings = Omit<RedisOptions, 'replyMapping'>;

/** Sends nothing before its first command. Reconnects until {@link closeRedis}. @throws UsageError if the URL is not usable */
export function openRedis(url: string, { purpose, clock, onNews }: OpenOptions): Redis {
  const limits: ConnectionSettings =
    purpose === 'commands'
      ? { maxRetriesPerRequest: COMMAND_RETRIES, commandTimeout: COMMAND_LIMIT_MS }
      : { maxRetriesPerRequest: null };
  const options: ConnectionSettings = {
    ...readUrl(url),
    ...limits,
    lazyConnect: true,
    connectionName: `watchkeeper-${purpose}`,
    connectTimeout: CONNECT_LIMIT_MS,
    socketTimeout: purpose === 'blocking' ? SILENT_BLOCKING_LIMIT_MS : SILENT_LIMIT_MS,
    reconnectOnError: whenNotPrimary(clock),
    retryStrategy: (attempt: number) => pauseAfter(attempt, RETRY),
  };
  const redis = new GatheringRedis(options);
  reportNews(redis, url, clock, onNews ?? (() => undefined));
  keepAsking(redis, clock);
  return redis;
}

/**
 * Sends the commands of one turn of the event loop together: each write costs this process and the server more than most commands.
 * A connection that breaks before changes nothing: ioredis repeats or fails each command without a reply, whether sent or not.
 */
class GatheringRedis extends Redis {
  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const { stream } = this;
    if (this.status !== 'ready') return super.sendCommand(...args);
    // The server begins with these while the turn continues.
    if (stream.writableCorked > 0 && stream.writableLength >= MOST_GATHERED_BYTES) stream.uncork();
    if (stream.writableCorked === 0) {
      stream.cork();
      // It comes after the promises of this turn, whose commands are gathered, too.
      process.nextTick(() => stream.uncork());
    }
    return super.sendCommand(...args);
  }
}

/** Closes it after a failure. @throws UnreachableError if nothing answers; UsageError for a password, or before 6.2 */
export async function connectOrExplain(redis: Redis, url: string): Promise<void> {
  let trouble: Error | null = null;
  const note = (error: Error) => {
    trouble ??= error;
  };
  redis.on('error', note);
  try {
    await redis.connect();
    requireVersion(await redis.info('server'), url);
  } catch (error) {
    closeRedis(redis);
    throw explain(trouble ?? error, url);
  } finally {
    redis.off('error', note);
  }
}

/** Closes the connection; pending commands fail. Idempotent. */
export function closeRedis(redis: Redis): void {
  redis.disconnect();
  if (redis.status !== 'reconnecting') return;
  // If closed between two attempts, ioredis would never settle pending commands. An attempt that is given up at once does.
  redis.connect().catch(() => undefined);
  redis.disconnect();
}

/** @param info the reply to `INFO server` @throws UsageError before 6.2, the oldest that the queue works with */
export function requireVersion(info: string, url: string): void {
  const found = /^(?:redis|valkey)_version:(\S+)/m.exec(info)?.[1];
  if (found === undefined || isSupportedVersion(found)) return;
  throw new UsageError(
    `the Redis at ${redactUrl(url)} is version ${found}; version ${OLDEST_VERSION.join('.')} or newer is needed: update it`,
  );
}

/** @param version as the server reports it: `7.0.15` */
export function isSupportedVersion(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor >= OLDEST_VERSION[1]);
}

/** @returns the URL without password and query, which may be shown */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '(an address that cannot be read)';
  const { protocol, username, password, host, pathname } = new URL(url);
  const login = username === '' && password === '' ? '' : `${username}${password === '' ? '' : ':***'}@`;
  return `${protocol}//${login}${host}${pathname}`;
}

function readUrl(url: string): ConnectionSettings {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !['redis:', 'rediss:', 'unix:'].includes(parsed.protocol)) {
    throw new UsageError(
      `${redactUrl(url)} is not a Redis address; allowed are redis://host:6379, rediss://host:6379 and unix:///path/to/socket`,
    );
  }
  const { username, password } = parsed;
  const login = {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  };
  if (parsed.protocol === 'unix:') {
    return { ...login, path: decodeURIComponent(parsed.pathname), db: databaseOf(parsed.searchParams.get('db')) };
  }
  return {
    ...login,
    host: parsed.hostname === '' ? '127.0.0.1' : parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port === '' ? 6379 : Number(parsed.port),
    db: databaseOf(parsed.pathname.slice(1)),
    ...(parsed.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

function databaseOf(text: string | null): number {
  if (text === null || text === '') return 0;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new UsageError(`${JSON.stringify(text)} is not a Redis database number; write it as redis://host:6379/0`);
}

/** @returns whether an error is worth another connection: this server takes no writes, and another one might */
function whenNotPrimary(clock: Clock): (error: Error) => boolean {
  let lookedAt = Number.NEGATIVE_INFINITY;
  return ({ message }) => {
    if (!/\bREADONLY\b/.test(message) || clock.monotonic() - lookedAt < LOOK_FOR_PRIMARY_EVERY_MS) return false;
    lookedAt = clock.monotonic();
    return true;
  };
}

function keepAsking(redis: Redis, clock: Clock): void {
  let timer: Timer | null = null;
  const ask = () => {
    redis.ping().catch(() => undefined);
    timer = clock.after(ASK_EVERY_MS, ask);
  };
  redis.on('ready', () => {
    timer?.cancel();
    timer = clock.after(ASK_EVERY_MS, ask);
  });
  redis.on('close', () => timer?.cancel());
}

function reportNews(redis: Redis, url: string, clock: Clock, report: (news: ConnectionNews) => void): void {
  let awaySinceMs: number | null = null;
  let trouble: Error | null = null;
  // Without a listener ioredis writes to the console, and errors contain the commands' arguments.
  redis.on('error', (error: Error) => {
    trouble = error;
  });
  redis.on('reconnecting', () => {
    if (awaySinceMs !== null) return;
    awaySinceMs = clock.monotonic();
    const why = trouble === null ? 'it closed the connection' : withoutPassword(trouble, url);
    report({ kind: 'away', words: `Redis at ${redactUrl(url)} is away (${why}); trying again until it is back` });
  });
  redis.on('ready', () => {
    trouble = null;
    if (awaySinceMs === null) return;
    const lasted = describeDuration(clock.monotonic() - awaySinceMs);
    awaySinceMs = null;
    report({ kind: 'back', words: `Redis at ${redactUrl(url)} is back after ${lasted}` });
  });
}

/** The thrown error is not kept as the cause, only a trouble of this process is noted: ioredis attaches the command's arguments to it, including the password. */
function explain(thrown: unknown, url: string): Error {
  if (thrown instanceof UsageError) return thrown;
  const words = withoutPassword(thrown, url);
  if (/WRONGPASS|NOAUTH|NOPERM|invalid.*password/i.test(words)) {
    return new UsageError(
      `the Redis at ${redactUrl(url)} refused the login (${words}); correct user and password in its URL`,
    );
  }
  const why = isOwnTrouble(thrown) ? { cause: Object.assign(new Error(words), { code: errorCode(thrown) }) } : {};
  return new UnreachableError(`no Redis answers at ${redactUrl(url)} (${words}); start it, or correct its URL`, why);
}

function withoutPassword(thrown: unknown, url: string): string {
  const words = thrown instanceof Error ? wordsOf(thrown) : String(thrown);
  const { password } = new URL(url);
  if (password === '') return words;
  return words.replaceAll(decodeURIComponent(password), '***').replaceAll(password, '***');
}
