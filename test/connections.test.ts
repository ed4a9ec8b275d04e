import { expect, test } from '@jest/globals';
import { Connections } from '../bridge/assembly/foundation.js';
import { RedisOutage } from '../bridge/assembly/redisOutage.js';
import { UnreachableError } from '../src/errors.js';
import { createLogger, type Logger } from '../src/logger.js';
import { SECOND } from '../src/time.js';
import { ManualClock } from './harness/clock.js';
import { describeWithRedis, testRedisUrl } from './harness/redis.js';
import { afterThisTest } from './harness/scope.js';

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
  const connections = new Connections(findUrl, { clock, outage: new RedisOutage(clock, () => logger) }, stopping);
  afterThisTest(() => connections.closeAll());
  return { clock, lines, place, connections };
}

describeWithRedis('a Redis that goes away while a process starts', () => {
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
