import { describe, expect, test } from '@jest/globals';
import { RedisOutage } from '../../../bridge/redis/redisOutage.js';
import { createLogger, type Logger } from '../../../src/log/logger.js';
import { MINUTE, SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';

const WHERE = 'redis://127.0.0.1:6379';

function scene() {
  const clock = new ManualClock();
  const lines: { level: string; msg: string; err?: { stack?: string } }[] = [];
  const destinations = [{ name: 'the test', write: (line: string) => void lines.push(JSON.parse(line)) }];
  const outage = new RedisOutage(clock, () => logger);
  const isReportedElsewhere = (error: unknown) => outage.covers(error);
  const logger: Logger = createLogger({
    level: 'info',
    redact: (text) => text,
    clock,
    destinations,
    isReportedElsewhere,
  });
  return { clock, lines, outage, logger };
}

describe('a Redis that is away', () => {
  // rule: a-redis-outage-is-waited-for
  test('is told once for all connections, once a minute, and once when the last one is back', async () => {
    const { clock, lines, outage } = scene();
    const [one, two] = [{}, {}];
    outage.away(one, WHERE, 'Redis is away');
    outage.away(two, WHERE, 'Redis is away');
    await clock.advance(2 * MINUTE + 10 * SECOND);
    outage.back(one, WHERE);
    expect(lines.map(({ msg }) => msg)).toEqual([
      'Redis is away',
      `Redis at ${WHERE} has been away for 60 s; trying again until it is back`,
      `Redis at ${WHERE} has been away for 2 min; trying again until it is back`,
    ]);
    outage.back(two, WHERE);
    await clock.advance(10 * MINUTE);
    expect(lines.slice(3)).toMatchObject([
      { level: 'info', msg: `Redis at ${WHERE} is back after 2 min`, away_ms: 130_000 },
    ]);
  });

  test('is not told again by those who meet it; a fault of ours is', () => {
    const { lines, logger } = scene();
    logger.warn({ err: new Error('connect ECONNREFUSED 127.0.0.1:6379') }, 'a lease could not be renewed');
    logger.error(new Error('Connection is closed.'));
    logger.warn({ err: new Error("Socket timeout. Expecting data, but didn't receive any in 15000ms.") }, 'the worker');
    logger.error({ err: Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' }) }, 'both addresses');
    expect(lines).toEqual([]);
    logger.warn({ err: new Error('a fault of ours') }, 'a fault');
    expect(lines).toMatchObject([{ msg: 'a fault', err: { stack: expect.any(String) } }]);
  });

  test('holds its connections and answers nothing: said once a minute, without frames', async () => {
    const { clock, lines, logger } = scene();
    const meet = () => logger.warn({ err: new Error('Command timed out') }, 'a lease could not be renewed');
    meet();
    meet();
    await clock.advance(MINUTE);
    meet();
    expect(lines).toHaveLength(2);
    expect(lines[0]?.err).not.toHaveProperty('stack');
  });
});

describe('a Redis that refuses its work', () => {
  const FULL = "OOM command not allowed when used memory > 'maxmemory'.";

  test('is told once with what to do, once a minute, and once when it has been well for a while', async () => {
    const { clock, lines, outage, logger } = scene();
    logger.warn({ err: refusal(`${FULL} script: 3f2, on @user_script:5.`) }, 'one of many who meet it');
    outage.wrote(refusal(FULL));
    await clock.advance(MINUTE + SECOND);
    outage.wrote(refusal(FULL));
    outage.wrote(null);
    await clock.advance(11 * SECOND);
    outage.wrote(null);
    await clock.advance(10 * MINUTE);
    const why = `${FULL.slice(0, -1)}: it is full: raise \`maxmemory\`, or move other data elsewhere; running work continues, messages wait`;
    expect(lines).toMatchObject([
      { level: 'warn', msg: `Redis refuses its work (${why}); trying again until it does it` },
      { level: 'warn', msg: `Redis has refused its work for 60 s (${why}); trying again until it does it` },
      { level: 'info', msg: 'Redis does its work again after 72 s', refused_ms: 72_000 },
    ]);
  });

  // rule: a-redis-outage-is-waited-for
  test.each([
    "READONLY You can't write against a read only replica.",
    'MISCONF Errors writing to the AOF file: No space left on device',
    'LOADING Redis is loading the dataset in memory',
    'BUSY Redis is busy running a script.',
    'NOAUTH HELLO must be called with the client already authenticated',
    'WRONGPASS invalid username-password pair or user is disabled.',
    "NOPERM User default has no permissions to run the 'evalsha' command",
  ])('has its reason told: %s', (words) => {
    const { lines, outage } = scene();
    outage.wrote(refusal(words));
    expect(lines).toMatchObject([{ msg: expect.stringContaining(words.split(' ')[0] as string) }]);
  });

  test('for another reason than before has that reason logged, too, and repeated from then on', async () => {
    const { clock, lines, outage } = scene();
    const readonly = refusal("READONLY You can't write against a read only replica.");
    outage.wrote(readonly);
    await clock.advance(5 * SECOND);
    for (const command of ['evalsha', 'get', 'set'])
      outage.wrote(refusal(`NOPERM User default has no permissions to run the '${command}' command`));
    await clock.advance(MINUTE - 5 * SECOND);
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/^Redis refuses its work \(READONLY .*set REDIS_URL to the primary/),
      expect.stringMatching(/^Redis refuses its work \(NOPERM .*give it all commands/),
      expect.stringMatching(/^Redis has refused its work for 60 s \(NOPERM .*'set' command/),
    ]);
    await clock.advance(5 * SECOND);
    outage.wrote(null);
    outage.wrote(readonly);
    expect(lines.slice(3).map(({ msg }) => msg)).toEqual([
      'Redis does its work again after 65 s',
      expect.stringContaining('READONLY'),
    ]);
  });

  test('because its password was changed is told once to all who meet it, with what to do', () => {
    const { lines, logger } = scene();
    const locked = refusal('NOAUTH Authentication required.');
    for (const who of ['the worker met a queue error', 'a lease', 'the worker met a queue error']) {
      logger.warn({ err: locked }, who);
    }
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/it refuses the login: correct the password in REDIS_URL, and restart/),
    ]);
  });
});

function refusal(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}
