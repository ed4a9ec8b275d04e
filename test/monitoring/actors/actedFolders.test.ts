/** Who acts for a host whose watchdogs are gone. */

import { expect, test } from '@jest/globals';
import { ActedFolders } from '../../../monitoring/actors/actedFolders.js';
import { WatchdogLease } from '../../../monitoring/actors/watchdogLease.js';
import { ensureLogsFolderId } from '../../../src/files/logsFolder.js';
import type { ProcessIdentity } from '../../../src/host/identity.js';
import { openStore } from '../../../src/jobs/store.js';
import { createLogger } from '../../../src/log/logger.js';
import { applyCommit } from '../../../src/redis/commit.js';
import { SECOND } from '../../../src/time.js';
import { ManualClock, TEST_START } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis, openTestRedis } from '../../harness/redis.js';
import { untilAtRest } from '../../harness/rest.js';
import { afterThisTest } from '../../harness/scope.js';
import { eventLines, LEASE_MS, openIncident } from '../incident/saga/sagaScene.js';
import {
  atRest,
  deadProcess,
  HERE,
  NO_GAPS,
  openWatchdogScene,
  runOf,
  startWatchdog,
  until,
} from '../watchdogScene.js';

const WATCHDOG_LEASE_MS = 9 * SECOND;
const RUN_LEASE_MS = 6 * SECOND;
const LOOK_MS = 2 * SECOND;

async function openHosts() {
  const { redis, prefix } = await openTestRedis();
  const clock = new ManualClock(TEST_START, () => untilAtRest([redis]));
  const { leases } = openStore(redis, clock, prefix);
  const logger = createLogger({ level: 'silent', redact: (text) => text, clock, destinations: [] });
  const lostFolder = testFolder();
  const lostId = await ensureLogsFolderId(lostFolder, clock);
  const watchdogOf = (logsFolder: string, host: string, here: ProcessIdentity = { ...HERE, host }) => {
    const own = new WatchdogLease({
      ...{ leases, clock, logger, logsFolder, here },
      leaseMs: WATCHDOG_LEASE_MS,
      standsBy: false,
      gaps: NO_GAPS,
      onActing: () => undefined,
    });
    afterThisTest(() => own.stop());
    return own;
  };
  const survivor = async (host: string) => {
    const logsFolder = testFolder();
    const own = watchdogOf(logsFolder, host);
    await own.start();
    const folders = new ActedFolders({
      ...{ own, leases, clock, logger, logsFolder, here: { ...HERE, host } },
      watchdogLeaseMs: WATCHDOG_LEASE_MS,
      runLeaseMs: RUN_LEASE_MS,
      runFolders: () => new Set([lostId]),
      openIncidents: async () => [],
      onChange: () => undefined,
    });
    afterThisTest(() => folders.stop());
    return folders;
  };
  /** Everybody renews and looks as often as they do by themselves. */
  const pass = async (timeMs: number, ...all: ActedFolders[]) => {
    for (let passed = 0; passed < timeMs; passed += LOOK_MS) {
      await clock.advance(LOOK_MS);
      for (const folders of all) await folders.runOnce();
    }
  };
  return { redis, clock, leases, lostFolder, lostId, watchdogOf, survivor, pass };
}

describeWithRedis('a logs folder', () => {
  test('with a living watchdog is acted for by no other', async () => {
    const { lostFolder, lostId, watchdogOf, survivor, pass } = await openHosts();
    const there = watchdogOf(lostFolder, 'there');
    await there.start();
    const here = await survivor('here');
    await pass(4 * RUN_LEASE_MS, here);
    expect(there.isActing).toBe(true);
    expect(here.actsFor(lostId)).toBe(false);
  });

  // rule: one-watchdog-acts-per-folder
  test('without a watchdog is taken over after two leases, by one of two survivors', async () => {
    const { lostFolder, lostId, watchdogOf, survivor, pass } = await openHosts();
    const there = watchdogOf(lostFolder, 'there');
    await there.start();
    await there.stop();
    const all = [await survivor('here'), await survivor('elsewhere')] as const;
    await pass(2 * RUN_LEASE_MS, ...all);
    expect(all.map((each) => each.actsFor(lostId))).toEqual([false, false]);
    await pass(LOOK_MS, ...all);
    expect(all.filter((each) => each.actsFor(lostId))).toHaveLength(1);
    await pass(4 * RUN_LEASE_MS, ...all);
    expect(all.filter((each) => each.actsFor(lostId))).toHaveLength(1);
  });

  // rule: one-watchdog-acts-per-folder
  test('is taken back by its own watchdog; later commits of the substitute are refused', async () => {
    const { redis, lostFolder, lostId, watchdogOf, survivor, pass } = await openHosts();
    const here = await survivor('here');
    await pass(2 * RUN_LEASE_MS + LOOK_MS, here);
    expect(here.actsFor(lostId)).toBe(true);
    expect(await applyCommit(redis, { checks: here.guard(), writes: [] })).toBe(true);
    const back = watchdogOf(lostFolder, 'there');
    await back.start();
    expect(back.isActing).toBe(true);
    expect(await applyCommit(redis, { checks: here.guard(), writes: [] })).toBe(false);
    await pass(LOOK_MS, here);
    expect(here.actsFor(lostId)).toBe(false);
    expect(await applyCommit(redis, { checks: here.guard(), writes: [] })).toBe(true);
  });

  // rule: one-watchdog-acts-per-folder
  test('is not considered lost by a watchdog that was away itself', async () => {
    const { clock, lostId, survivor, pass } = await openHosts();
    const here = await survivor('here');
    await pass(RUN_LEASE_MS, here);
    await clock.advance(3 * RUN_LEASE_MS);
    await pass(RUN_LEASE_MS, here);
    expect(here.actsFor(lostId)).toBe(false);
  });
});

describeWithRedis('an incident of another logs folder', () => {
  // rule: one-watchdog-acts-per-folder
  test('is left alone while its own watchdog is alive, and is acted on here when that one is lost', async () => {
    const scene = await openWatchdogScene();
    const { store, clock } = scene;
    const theirs = await store.leases.hold('watchdog:ELSEWHERE', 'their watchdog', 2 * LEASE_MS);
    const lost = await runOf(scene, '1', deadProcess(), LEASE_MS, 'ELSEWHERE');
    await openIncident(scene, lost);
    await startWatchdog(scene);
    await scene.folders.runOnce();
    await scene.watchdog.checkAllSessions();
    await atRest(scene);
    expect(eventLines(scene)).toEqual([]);
    expect(theirs).not.toBeNull();
    for (let looks = 0; looks < 15 && !scene.folders.actsFor('ELSEWHERE'); looks += 1) {
      await clock.advance(LEASE_MS / 3);
      await scene.folders.runOnce();
    }
    expect(scene.folders.actsFor('ELSEWHERE')).toBe(true);
    // A look at everything follows, and the saga's first step. Time stands: moved on meanwhile, it would give that look up.
    await until(() => eventLines(scene).some(({ id }) => id.endsWith('.detected')));
  });
});
