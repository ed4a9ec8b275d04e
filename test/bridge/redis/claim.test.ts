import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { claimFolder } from '../../../bridge/redis/claim.js';
import { UsageError } from '../../../src/errors.js';
import type { ProcessIdentity } from '../../../src/host/identity.js';
import type { Clock } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';

const GOING_ON = new AbortController().signal;
const LATER = 'claim-999999999999999-7-ab.json';

function processOf(pid: number): ProcessIdentity {
  return { host: 'h', boot_id: 'b', pid_namespace: 'n', pid, pid_start: '1' };
}

function claim(folder: string, pid: number, lives: Parameters<typeof claimFolder>[1], clock: Clock) {
  return claimFolder({ folder, here: processOf(pid), clock, stopping: GOING_ON }, lives);
}

/** Sleeping takes one turn of the event loop. */
class TurningClock extends ManualClock {
  override async sleep(delayMs: number): Promise<void> {
    await this.advance(delayMs);
  }
}

test('claims of dead processes, and damaged ones, are cleared away', async () => {
  const folder = testFolder();
  const clock = new ManualClock();
  await claim(folder, 1, async () => true, clock);
  writeFileSync(join(folder, 'claim-000000000000001-3-cd.json'), '{');
  const second = await claim(folder, 2, async (owner) => owner.pid !== 1, clock);
  expect(readdirSync(folder)).toHaveLength(1);
  second.release();
  second.release();
  expect(readdirSync(folder)).toEqual([]);
});

test('a claim whose process cannot be seen stays, but does not block another bridge', async () => {
  const folder = testFolder();
  writeFileSync(join(folder, LATER), JSON.stringify(processOf(7)));
  (await claim(folder, 1, async () => null, new ManualClock())).release();
  expect(readdirSync(folder)).toEqual([LATER]);
});

test('a process that sees an earlier living claim leaves at once, without a trace', async () => {
  const folder = testFolder();
  const clock = new ManualClock();
  await claim(folder, 1, async () => true, clock);
  clock.moveWallClock(1);
  const refused = claim(folder, 2, async () => true, clock);
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow('another bridge (process 1 on h)');
  expect(readdirSync(folder)).toHaveLength(1);
});

test('a later claim gets time to leave; one that stays owns the folder', async () => {
  const folder = testFolder();
  const clock = new ManualClock();
  writeFileSync(join(folder, LATER), JSON.stringify(processOf(7)));
  let seven = true;
  const patient = claim(folder, 1, async () => seven, clock);
  await clock.untilWaiting();
  seven = false;
  await clock.advance(10);
  (await patient).release();

  writeFileSync(join(folder, LATER), JSON.stringify(processOf(7)));
  const refused = expect(claim(folder, 1, async () => true, clock)).rejects.toThrow('process 7');
  for (let step = 0; step < 300 && readdirSync(folder).length > 1; step += 1) {
    await clock.untilWaiting();
    await clock.advance(10);
  }
  await refused;
});

test('of many at the same instant exactly one wins, in every order of events', async () => {
  for (let round = 0; round < 50; round += 1) {
    const folder = testFolder();
    writeFileSync(join(folder, 'claim-000000000000001-9-ab.json'), JSON.stringify(processOf(9)));
    const dawdle = async () => {
      for (let turns = Math.random() * 5; turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
    };
    const lives = async (owner: ProcessIdentity) => {
      await dawdle();
      return owner.pid !== 9;
    };
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4, 5].map(async (pid) => {
        await dawdle();
        return claim(folder, pid, lives, new TurningClock());
      }),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(folder)).toHaveLength(1);
  }
});
