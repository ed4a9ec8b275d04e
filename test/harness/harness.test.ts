import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ManualClock, TEST_START } from './clock.js';
import { testFolder } from './folder.js';
// @ts-expect-error jest loads it before anything is compiled, so it is JavaScript without types
import { processorMs } from './processorTime.mjs';
import { describeWithRedis, openTestRedis } from './redis.js';
import { untilAtRest } from './rest.js';

describe('ManualClock', () => {
  test('runs timers in order, each at its own instant, including timers that others add', async () => {
    const clock = new ManualClock();
    const seen: string[] = [];
    const note = (name: string) => seen.push(`${name}@${clock.now() - TEST_START}`);
    clock.after(30, () => note('c'));
    clock.after(10, () => {
      note('a');
      clock.after(10, () => note('b'));
    });
    clock.after(10, () => note('a2')).cancel();
    void (async () => {
      for (let round = 0; round < 3; round += 1) {
        await clock.sleep(15);
        note('slept');
      }
    })();
    await clock.advance(40);
    expect(seen).toEqual(['a@10', 'slept@15', 'b@20', 'c@30', 'slept@30']);
    expect([clock.now() - TEST_START, clock.monotonic(), clock.waiting, clock.nextInMs]).toEqual([40, 40, 1, 5]);
  });

  test('stalled: all due timers run late', async () => {
    const clock = new ManualClock();
    const seen: number[] = [];
    clock.after(10, () => seen.push(clock.monotonic()));
    clock.after(70, () => seen.push(clock.monotonic()));
    await clock.stall(60);
    expect(seen).toEqual([60]);
  });

  test('the wall clock moves alone', async () => {
    const clock = new ManualClock();
    let fired = false;
    clock.after(10, () => {
      fired = true;
    });
    clock.moveWallClock(-5_000);
    await clock.advance(9);
    expect([clock.now() - TEST_START, fired]).toEqual([-4_991, false]);
  });

  test('a sleeper wakes when its signal aborts, and untilWaiting sees the sleepers', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const asleep = clock.untilWaiting();
    const slept = clock.sleep(1_000, stop.signal);
    await asleep;
    stop.abort();
    await slept;
    expect(clock.waiting).toBe(0);
    await clock.sleep(1_000, stop.signal);
  });
});

describeWithRedis('a clock that waits for the scene', () => {
  test('continues when the work of a timer is done, published messages have arrived, and files are written', async () => {
    const [{ redis, prefix }, { redis: subscriber }] = [await openTestRedis(), await openTestRedis()];
    const file = join(testFolder(), 'heard');
    const clock = new ManualClock(TEST_START, () => untilAtRest([redis, subscriber]));
    const seen: string[] = [];
    subscriber.on('message', async (_, message) => {
      for (let step = 0; step < 20; step += 1) await redis.incr(`${prefix}steps`);
      await writeFile(file, message);
      seen.push(`${message} written`);
    });
    await subscriber.subscribe(`${prefix}news`);
    clock.after(10, () => void redis.publish(`${prefix}news`, 'one'));
    clock.after(20, () => seen.push('two'));
    await clock.advance(20);
    expect(seen).toEqual(['one written', 'two']);
  });

  test('does not wait forever', async () => {
    const { redis } = await openTestRedis();
    let isOver = false;
    const asking = (async () => {
      while (!isOver) await redis.ping();
    })();
    await expect(untilAtRest([redis], 100)).rejects.toThrow('keeps changing');
    isOver = true;
    await asking;
  });
});

test('errors of Node itself are instances of Error here, as in production', () => {
  const read = () => readFileSync('/nowhere/at/all');
  expect(read).toThrow(Error);
  expect(read).not.toThrow(TypeError);
});

describe('testFolder', () => {
  let former = '';
  test('returns a folder', () => {
    former = testFolder();
    expect(existsSync(former)).toBe(true);
  });
  test('the folder of a passed test is gone', () => {
    expect(existsSync(former)).toBe(false);
  });
});

describeWithRedis('openTestRedis', () => {
  let former = '';
  const first: { status(): string }[] = [];
  test('returns a private prefix on a real server', async () => {
    const { redis, prefix } = await openTestRedis();
    former = prefix;
    first.push({ status: () => redis.status });
    await redis.set(`${prefix}a`, '1');
    expect(await redis.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  });
  test('the keys of a passed test are gone, and its connection is closed', async () => {
    const { redis } = await openTestRedis();
    expect(await redis.keys(`${former}*`)).toEqual([]);
    expect(first[0]?.status()).toBe('end');
  });
  afterAll(() => expect(former).not.toBe(''));
});

test('the processor time of a test counts what its child processes took', () => {
  const before = processorMs();
  const busy = 'while (process.cpuUsage().user < 300_000) Math.random();';
  expect(spawnSync(process.execPath, ['-e', busy]).status).toBe(0);
  expect(processorMs() - before).toBeGreaterThanOrEqual(250);
});
