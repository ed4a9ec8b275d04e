import { expect, test } from '@jest/globals';
import { Rounds } from '../../src/rounds.js';
import { ManualClock } from '../harness/clock.js';

function counted(clock: ManualClock, pauseMs: number | (() => number)): { rounds: Rounds; count: () => number } {
  let count = 0;
  const rounds = new Rounds(clock, async () => (count += 1), pauseMs);
  return { rounds, count: () => count };
}

test('a round runs at once, and again after each pause', async () => {
  const clock = new ManualClock();
  const { rounds, count } = counted(clock, 1_000);
  rounds.start();
  await clock.advance(999);
  expect(count()).toBe(1);
  await clock.advance(1);
  expect(count()).toBe(2);
  await clock.advance(3_000);
  expect(count()).toBe(5);
  await rounds.stop();
});

test('it can start with a pause instead', async () => {
  const clock = new ManualClock();
  const { rounds, count } = counted(clock, 1_000);
  rounds.start('with a pause');
  await clock.advance(999);
  expect(count()).toBe(0);
  await clock.advance(1);
  expect(count()).toBe(1);
  await rounds.stop();
});

test('each pause can have another length', async () => {
  const clock = new ManualClock();
  const pauses = [100, 300];
  const { rounds, count } = counted(clock, () => pauses.shift() ?? 10_000);
  rounds.start();
  await clock.advance(100);
  expect(count()).toBe(2);
  await clock.advance(299);
  expect(count()).toBe(2);
  await clock.advance(1);
  expect(count()).toBe(3);
  await rounds.stop();
});

test('stopping cuts a pause short, even before the first round, and a stopped one can be started again', async () => {
  const clock = new ManualClock();
  const { rounds, count } = counted(clock, 1_000);
  rounds.start('with a pause');
  rounds.start();
  expect(rounds.isRunning).toBe(true);
  await rounds.stop();
  await rounds.stop();
  expect([rounds.isRunning, count()]).toEqual([false, 0]);
  rounds.start();
  await clock.advance(0);
  expect(count()).toBe(1);
  await rounds.stop();
  await clock.advance(5_000);
  expect(count()).toBe(1);
});

test('stopping waits for the round in progress', async () => {
  const ended: string[] = [];
  let end: () => void = () => undefined;
  const round = new Promise<void>((resolve) => (end = resolve));
  const rounds = new Rounds(new ManualClock(), () => round.then(() => ended.push('round')), 1_000);
  rounds.start();
  const stopped = rounds.stop().then(() => ended.push('stop'));
  end();
  await stopped;
  expect(ended).toEqual(['round', 'stop']);
});
