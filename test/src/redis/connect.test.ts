import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { UnreachableError, UsageError } from '../../../src/errors.js';
import {
  type ConnectionNews,
  closeRedis,
  connectOrExplain,
  isSupportedVersion,
  openRedis,
  redactUrl,
  requireVersion,
} from '../../../src/redis/connect.js';
import { systemClock } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { describeWithRedis, openTestRedis } from '../../harness/redis.js';

async function closedPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function failureOf(url: string): Promise<unknown> {
  try {
    await connectOrExplain(openRedis(url, { purpose: 'commands', clock: systemClock }), url);
    return null;
  } catch (error) {
    return error;
  }
}

/** @returns how often the connection writes to the system from now on */
function writesOf({ stream }: Redis): { count: number } {
  const writes = { count: 0 };
  const { _write, _writev } = stream;
  stream._write = (...args) => {
    writes.count += 1;
    _write.apply(stream, args);
  };
  stream._writev = (...args) => {
    writes.count += 1;
    _writev?.apply(stream, args);
  };
  return writes;
}

/** Everything that a logger could print of an error. */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.stack} ${JSON.stringify(error)} ${everythingIn(error.cause)}`;
}

describe('redactUrl', () => {
  test.each([
    ['redis://localhost:6379/2', 'redis://localhost:6379/2'],
    ['redis://:s%40crt@localhost', 'redis://:***@localhost'],
    ['rediss://me:s3crt@host:1/?password=s3crt', 'rediss://me:***@host:1/'],
    ['unix://me:s3crt@localhost/run/r.sock?db=2', 'unix://me:***@localhost/run/r.sock'],
    ['s3crt@nowhere', '(an address that cannot be read)'],
  ])('%s', (url, shown) => expect(redactUrl(url)).toBe(shown));
});

describe('versions', () => {
  test.each([
    ['6.0.16', false],
    ['6.2.0', true],
    ['5.9.9', false],
    ['7.0.15', true],
    ['10.0.0', true],
  ])('%s', (version, supported) => expect(isSupportedVersion(version)).toBe(supported));

  test('an old server is refused with an explanation; one without a version is not', () => {
    expect(() => requireVersion('# Server\r\nredis_version:6.0.16\r\n', 'redis://:pw@h')).toThrow(
      new UsageError('the Redis at redis://:***@h is version 6.0.16; version 6.2 or newer is needed: update it'),
    );
    requireVersion('', 'redis://h');
  });
});

describe('openRedis without a server', () => {
  test('an unusable address is reported without its password', () => {
    const open = (url: string) => () => openRedis(url, { purpose: 'commands', clock: systemClock });
    expect(open('http://me:s3crt@host')).toThrow('http://me:***@host/ is not a Redis address');
    expect(open('me:s3crt')).toThrow(UsageError);
    expect(open('redis://localhost/first')).toThrow('"first" is not a Redis database number');
  });

  test('an unreachable server: UnreachableError with an explanation, and nothing is left running', async () => {
    const port = await closedPort();
    const error = await failureOf(`redis://me:s3crt@127.0.0.1:${port}`);
    expect(error).toBeInstanceOf(UnreachableError);
    expect((error as Error).message).toBe(
      `no Redis answers at redis://me:***@127.0.0.1:${port} (connect ECONNREFUSED 127.0.0.1:${port}); start it, or correct its URL`,
    );
    expect(await failureOf('unix:///nowhere/redis.sock')).toBeInstanceOf(UnreachableError);
  });

  test('a command fails by itself, a subscriber keeps waiting', async () => {
    const url = `redis://127.0.0.1:${await closedPort()}`;
    const commands = openRedis(url, { purpose: 'commands', clock: systemClock });
    const subscriber = openRedis(url, { purpose: 'subscriber', clock: systemClock });
    let waiting = true;
    const subscribed = subscriber.subscribe('x').finally(() => {
      waiting = false;
    });
    await expect(commands.get('a')).rejects.toThrow('max retries per request');
    expect(waiting).toBe(true);
    closeRedis(commands);
    closeRedis(subscriber);
    await expect(subscribed).rejects.toThrow('Connection is closed');
  });
});

describeWithRedis('openRedis', () => {
  test('passwords work, and a wrong one is reported but not shown, not even inside the error', async () => {
    const { redis, url } = await openTestRedis();
    const user = `u${randomBytes(4).toString('hex')}`;
    await redis.call('ACL', 'SETUSER', user, 'on', '>s3@crt', '~*', '&*', '+@all');
    const right = url.replace('//', `//${user}:s3%40crt@`);
    const open = openRedis(right, { purpose: 'commands', clock: systemClock });
    await connectOrExplain(open, right);
    expect(await open.call('ACL', 'WHOAMI')).toBe(user);
    closeRedis(open);
    const wrong = await failureOf(url.replace('//', `//${user}:wr0ngs3crt@`));
    expect(wrong).toBeInstanceOf(UsageError);
    expect((wrong as Error).message).toContain(`${user}:***@`);
    expect(everythingIn(wrong)).not.toContain('wr0ngs3crt');
    await redis.call('ACL', 'DELUSER', user);
  });

  test('sends the commands of one turn together, and begins before the turn ends if they are many', async () => {
    const { redis, prefix } = await openTestRedis();
    const writes = writesOf(redis);
    const counter = `${prefix}counter`;
    const counted = Promise.all(Array.from({ length: 20 }, () => redis.incr(counter)));
    expect(writes.count).toBe(0);
    expect(await counted).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(writes.count).toBe(1);
    const many = Promise.all(Array.from({ length: 9 }, () => redis.append(counter, 'x'.repeat(4_096))));
    expect(writes.count).toBe(3);
    await many;
    expect(writes.count).toBe(4);
    expect(await redis.strlen(counter)).toBe('20'.length + 9 * 4_096);
  });

  test('sends a gathered command again if the connection breaks before it was sent', async () => {
    const { redis, prefix } = await openTestRedis();
    const counted = [redis.incr(`${prefix}counter`), redis.incr(`${prefix}counter`)];
    redis.stream.destroy();
    expect(await Promise.all(counted)).toEqual([1, 2]);
  });

  test('sends what was gathered before it closes', async () => {
    const { redis, prefix, url } = await openTestRedis();
    const closing = openRedis(url, { purpose: 'commands', clock: systemClock });
    await closing.connect();
    const channel = `${prefix}closing`;
    await redis.del(channel);
    const pushed = closing.rpush(channel, 'last words').catch(() => undefined);
    closeRedis(closing);
    await pushed;
    expect((await redis.blpop(channel, 5))?.[1]).toBe('last words');
  });

  test('logs once that Redis is unreachable, and once that it is back', async () => {
    const { redis, url } = await openTestRedis();
    const clock = new ManualClock();
    const news: ConnectionNews[] = [];
    const watched = openRedis(url, { purpose: 'subscriber', clock, onNews: (item) => news.push(item) });
    await connectOrExplain(watched, url);
    const id = await watched.client('ID');
    const back = once(watched, 'ready');
    const away = once(watched, 'reconnecting');
    await redis.client('KILL', 'ID', id);
    await away;
    clock.moveWallClock(60_000);
    void clock.advance(3_000);
    await back;
    closeRedis(watched);
    expect(news.map((item) => item.words)).toEqual([
      `Redis at ${url} is away (it closed the connection); trying again until it is back`,
      `Redis at ${url} is back after 3 s`,
    ]);
  });
});
