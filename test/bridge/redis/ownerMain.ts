/**
 * A bridge, as far as its own Redis goes: starts it, says what it got in one JSON line, and stays until it is killed or its
 * standard input ends, which is the orderly stop.
 */
import { once } from 'node:events';
import { startEmbeddedRedis } from '../../../bridge/redis/embeddedRedis.js';
import { systemClock } from '../../../src/time.js';

const [logsFolder = '', path = ''] = process.argv.slice(2);
try {
  const redis = await startEmbeddedRedis({
    hungMs: 60_000,
    logsFolder,
    path,
    host: 'test',
    clock: systemClock,
    stopping: new AbortController().signal,
    notify: () => undefined,
  });
  process.stdout.write(`${JSON.stringify({ ...redis, lost: undefined, refused: null })}\n`);
  process.stdin.resume();
  await once(process.stdin, 'end');
  await redis.stop();
} catch (error) {
  process.stdout.write(`${JSON.stringify({ refused: String(error) })}\n`);
}
