import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { Connections } from '../../../bridge/redis/connections.js';
import { RedisOutage } from '../../../bridge/redis/redisOutage.js';
import { UnreachableError } from '../../../src/errors.js';
import { createLogger, type Logger } from '../../../src/log/logger.js';
import { SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { describeWithRedis, testRedisUrl } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';

function scene(stopping: AbortSignal | null) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const logger: Logger = createLogger({
    level: 'info',
    redact: (text) => text,
    clock,
    destinations: [{ name: 'the test', write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) }],
  });
  const place: { url: string | null } = { url: testRedisUrl() };
  const findUrl = () => {
    if (place.url === null) throw new UnreachableError('its bridge starts it anew');
    return place.url;
  };
  const connections = new Connections(findUrl, new RedisOutage(clock, () => logger), clock, stopping);
  afterThisTest(() => connections.closeAll());
  return { clock, lines, place, connections };
}

describeWithRedis('a Redis that goes away while a process starts', () => {
  // rule: a-redis-outage-is-waited-for
  test('between two of its connections is waited for, in words', async () => {
    const { clock, lines, place, connections } = scene(new AbortController().signal);
    await connections.open('commands');
    const { url } = place;
    place.url = null;
    const second = connections.open('subscriber');
    await clock.advance(2 * SECOND);
    expect(lines).toEqual(['waiting for Redis: its bridge starts it anew']);
    place.url = url;
    await clock.advance(4 * SECOND);
    expect((await second).status).toBe('ready');
    expect(lines.at(-1)).toMatch(/^Redis at .* is back after/);
  });

  test('is not waited for by a command that only looks, nor by one that is to stop', async () => {
    for (const stopping of [null, AbortSignal.abort()]) {
      const { place, connections } = scene(stopping);
      place.url = null;
      await expect(connections.open('commands')).rejects.toThrow('its bridge starts it anew');
    }
  });
});

describe('a Redis that takes connections and still reads its data', () => {
  // rule: a-redis-outage-is-waited-for
  test('is waited for in words', async () => {
    const stopping = new AbortController();
    const { clock, lines, place, connections } = scene(stopping.signal);
    place.url = await startLoadingServer();
    const refused = expect(connections.open('commands')).rejects.toThrow('may still be loading its data');
    await clock.untilWaiting();
    await clock.advance(30 * SECOND);
    stopping.abort();
    await clock.advance(30 * SECOND);
    await refused;
    expect(lines).toEqual([expect.stringMatching(/^waiting for Redis: .* it may still be loading its data$/)]);
  });
});

/** Answers as a server does whose file is large. */
async function startLoadingServer(): Promise<string> {
  const info = 'redis_version:7.0.0\r\nloading:1\r\nloading_eta_seconds:0.02';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      for (const [, name] of bytes.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        if (name?.toLowerCase() === 'hello') socket.write("-ERR unknown command 'HELLO'\r\n");
        else socket.write(name?.toLowerCase() === 'info' ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterThisTest(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
