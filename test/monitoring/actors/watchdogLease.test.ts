import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { WatchdogLease, type WatchdogLeaseOptions } from '../../../monitoring/actors/watchdogLease.js';
import { FencedError } from '../../../src/errors.js';
import { openStore } from '../../../src/jobs/store.js';
import { createLogger } from '../../../src/log/logger.js';
import { SECOND } from '../../../src/time.js';
import { ManualClock, TEST_START } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis, openTestRedis } from '../../harness/redis.js';
import { untilAtRest } from '../../harness/rest.js';
import { afterThisTest } from '../../harness/scope.js';
import { deadProcess, HERE, NO_GAPS } from '../watchdogScene.js';

// covers: src/redis/keptLease.ts

const LEASE_MS = 9 * SECOND;

async function openLeases() {
  const { redis, prefix } = await openTestRedis();
  const clock = new ManualClock(TEST_START, () => untilAtRest([redis]));
  const store = openStore(redis, clock, prefix);
  const logsFolder = testFolder();
  const acting: string[] = [];
  const logger = createLogger({ level: 'silent', redact: (text) => text, clock, destinations: [] });
  const lease = (name: string, changes: Partial<WatchdogLeaseOptions> = {}) => {
    const made = new WatchdogLease({
      leases: store.leases,
      clock,
      logger,
      logsFolder,
      leaseMs: LEASE_MS,
      here: HERE,
      standsBy: false,
      gaps: NO_GAPS,
      onActing: () => void acting.push(name),
      ...changes,
    });
    afterThisTest(() => made.stop());
    return made;
  };
  return { redis, store, clock, logsFolder, acting, lease };
}

describeWithRedis('the watchdog’s lease', () => {
  test('has one holder per logs folder, even if many start at once in an empty one', async () => {
    const { lease, logsFolder, acting } = await openLeases();
    const leases = Array.from({ length: 8 }, (_, index) => lease(String(index)));
    await Promise.all(leases.map((each) => each.start()));
    expect(leases.filter(({ isActing }) => isActing)).toHaveLength(1);
    expect(acting).toHaveLength(1);
    expect(readdirSync(logsFolder)).toEqual(['watchdog.id']);
    expect(readFileSync(join(logsFolder, 'watchdog.id'), 'utf8')).toMatch(/^[0-9A-Z]{26}\n$/);
  });

  test('is per folder: two folders have two', async () => {
    const { lease } = await openLeases();
    const [one, two] = [lease('one'), lease('two', { logsFolder: testFolder() })];
    await one.start();
    await two.start();
    expect([one.isActing, two.isActing]).toEqual([true, true]);
  });

  test('repairs an id that a full disk left empty', async () => {
    const { lease, logsFolder } = await openLeases();
    writeFileSync(join(logsFolder, 'watchdog.id'), '');
    const [one, two] = [lease('one'), lease('two')];
    await one.start();
    await two.start();
    expect([one.isActing, two.isActing]).toEqual([true, false]);
  });

  test('is taken over at once from a holder that is proven dead', async () => {
    const { lease } = await openLeases();
    const dead = lease('dead', { here: deadProcess() });
    const standby = lease('standby');
    await dead.start();
    await standby.start();
    expect(standby.isActing).toBe(true);
  });

  test('is taken over when it expires from a silent holder, which acts no more', async () => {
    const { store, clock, lease, acting } = await openLeases();
    let isSilent = false;
    const silent = Object.create(store.leases, {
      hold: {
        value: (...args: Parameters<typeof store.leases.hold>) =>
          isSilent ? Promise.reject(new Error('Redis is away')) : store.leases.hold(...args),
      },
    });
    const first = lease('first', { leases: silent });
    const standby = lease('standby');
    await first.start();
    await standby.start();
    isSilent = true;
    expect([first.isActing, standby.isActing]).toEqual([true, false]);
    await clock.advance(LEASE_MS);
    expect(first.isActing).toBe(false);
    expect(() => first.guard()).toThrow('another watchdog acts');
    await clock.advance(LEASE_MS);
    expect(standby.isActing).toBe(true);
    isSilent = false;
    await clock.advance(LEASE_MS);
    expect([first.isActing, standby.isActing]).toEqual([false, true]);
    // A holder whose lease ended while Redis was slow begins anew, so its own word may come more than once.
    expect([...new Set(acting)]).toEqual(['first', 'standby']);
  });

  test('passes from a living standby to a bridge, and back when the bridge ends; commits of the standby are refused', async () => {
    const { store, clock, lease, acting } = await openLeases();
    const [standby, other] = [lease('standby', { standsBy: true }), lease('other', { standsBy: true })];
    const bridge = lease('bridge');
    await standby.start();
    await other.start();
    await clock.advance(2 * LEASE_MS);
    expect([standby.isActing, other.isActing]).toEqual([true, false]);
    const stale = standby.guard();
    await bridge.start();
    expect(bridge.isActing).toBe(true);
    await expect(store.leases.require(stale)).rejects.toThrow(FencedError);
    await clock.advance(2 * LEASE_MS);
    expect([standby.isActing, other.isActing, bridge.isActing]).toEqual([false, false, true]);
    await bridge.stop();
    await clock.advance(LEASE_MS);
    expect([standby.isActing, other.isActing].filter(Boolean)).toHaveLength(1);
    expect(acting.slice(0, 2)).toEqual(['standby', 'bridge']);
  });

  // rule: the-bridge-watches-if-it-can
  test('is taken back by a bridge that was silent, as soon as it reports again', async () => {
    const { store, clock, lease } = await openLeases();
    let isSilent = false;
    const silent = Object.create(store.leases, {
      hold: {
        value: (...args: Parameters<typeof store.leases.hold>) =>
          isSilent ? Promise.reject(new Error('Redis is away')) : store.leases.hold(...args),
      },
    });
    const bridge = lease('bridge', { leases: silent });
    const standby = lease('standby', { standsBy: true });
    await bridge.start();
    await standby.start();
    isSilent = true;
    await clock.advance(2 * LEASE_MS);
    expect([bridge.isActing, standby.isActing]).toEqual([false, true]);
    isSilent = false;
    await clock.advance(LEASE_MS);
    expect([bridge.isActing, standby.isActing]).toEqual([true, false]);
  });

  test('is kept by renewal, and released at the end', async () => {
    const { clock, lease } = await openLeases();
    const [holder, standby] = [lease('holder'), lease('standby')];
    await holder.start();
    await holder.start();
    await standby.start();
    await clock.advance(2 * LEASE_MS);
    expect([holder.isActing, standby.isActing]).toEqual([true, false]);
    await holder.stop();
    await holder.stop();
    await clock.advance(LEASE_MS / 3);
    expect(standby.isActing).toBe(true);
  });

  test('expires one lease after its request, however late the reply of the store comes', async () => {
    const { store, clock, lease } = await openLeases();
    const slow = Object.create(store.leases, {
      hold: {
        value: async (...args: Parameters<typeof store.leases.hold>) => {
          const held = await store.leases.hold(...args);
          await clock.advance(LEASE_MS - 1);
          return held;
        },
      },
    });
    const holder = lease('holder', { leases: slow });
    await holder.start();
    expect(holder.isActing).toBe(true);
    await clock.advance(1);
    expect(holder.isActing).toBe(false);
  });

  test('still belongs to its holder if the reply was lost and the request repeated', async () => {
    const { store } = await openLeases();
    const { leases } = store;
    // What the connection repeats finds the record as the first one left it.
    let isFirst = true;
    const stale = Object.create(leases, {
      read: {
        value: async (name: string) => {
          const found = await leases.read(name);
          if (isFirst) await leases.hold(name, 'me', LEASE_MS);
          isFirst = false;
          return found;
        },
      },
    });
    expect(await stale.hold('x', 'me', LEASE_MS)).toMatchObject({ owner: 'me', fence: 1 });
  });
});
