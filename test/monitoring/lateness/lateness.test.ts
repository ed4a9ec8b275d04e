/** What happens when the watchdog itself was away: host sleep, a stopped process, a blocked loop, a clock that was set. */

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { excuses } from '../../../monitoring/lateness/knownGaps.js';
import { latenessLimits, type Readings, recogniseStandstill } from '../../../monitoring/lateness/standstill.js';
import { WatchdogGaps } from '../../../monitoring/lateness/watchdogGaps.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import type { GapCause, WatchdogGap } from '../../../src/jobs/findings.js';
import type { CriticalEvent } from '../../../src/jobs/incidents.js';
import { HOUR, isoTime, MINUTE, SECOND } from '../../../src/time.js';
import { describeWithRedis } from '../../harness/redis.js';
import { acceptMessage, LEASE_MS, OWNER } from '../incident/saga/sagaScene.js';
import {
  atRest,
  BACKLOG_MS,
  BEGINNING,
  HERE,
  journalOf,
  openWatchdogScene,
  runOf,
  SILENCE_MS,
  startWatchdog,
  until,
  type WatchdogOptions,
  type WatchdogScene,
} from '../watchdogScene.js';

const SPANS = { thresholds: [DEFAULT_THRESHOLDS], backlogMs: 10 * MINUTE, runLeaseMs: LEASE_MS };
const LIMITS = latenessLimits(SPANS);
const START: Readings = { wallMs: 1_000_000, monotonicMs: 5_000, sinceBootMs: 7_000, processorMs: 100 };

function readingsAfter(step: Partial<Readings>): Readings {
  const { beatMs } = LIMITS;
  const { wallMs = beatMs, monotonicMs = beatMs, sinceBootMs = monotonicMs, processorMs = 1 } = step;
  return {
    wallMs: START.wallMs + wallMs,
    monotonicMs: START.monotonicMs + monotonicMs,
    sinceBootMs: sinceBootMs === null ? null : 7_000 + sinceBootMs,
    processorMs: START.processorMs + processorMs,
  };
}

describe('the lateness limit', () => {
  test('is 30 s at the default thresholds, and always below the limits that it protects', () => {
    expect(LIMITS).toEqual({ boundMs: 30 * SECOND, beatMs: 5 * SECOND });
    for (const silence_ms of [1, 50, 1_500, 5_000, 60_000, 3_600_000]) {
      const { boundMs, beatMs } = latenessLimits({ ...SPANS, thresholds: [{ ...DEFAULT_THRESHOLDS, silence_ms }] });
      expect(boundMs + beatMs).toBeLessThan(Math.max(silence_ms, 2));
      expect(boundMs).toBeLessThanOrEqual(30 * SECOND);
    }
    expect(latenessLimits({ ...SPANS, runLeaseMs: SECOND }).boundMs).toBe(SECOND);
    expect(latenessLimits({ ...SPANS, backlogMs: SECOND }).boundMs).toBe(SECOND / 2);
  });
});

describe('a standstill', () => {
  const hour = { wallMs: HOUR, monotonicMs: HOUR };
  // rule: a-gap-is-known-by-its-signs
  test.each<[string, Partial<Readings>, GapCause, number]>([
    ['a host that slept', { wallMs: HOUR, sinceBootMs: HOUR }, 'host_slept', HOUR - LIMITS.beatMs],
    ['a stopped process', hour, 'process_stood', HOUR - LIMITS.beatMs],
    [
      'a stopped process without the time since boot',
      { ...hour, sinceBootMs: null },
      'process_stood',
      HOUR - LIMITS.beatMs,
    ],
    ['a blocked loop', { ...hour, processorMs: 0.9 * HOUR }, 'loop_blocked', HOUR - LIMITS.beatMs],
    ['a stop, though the clock was set back meanwhile', { ...hour, wallMs: 0 }, 'process_stood', HOUR - LIMITS.beatMs],
    ['a clock set forward', { wallMs: HOUR }, 'clock_jumped', HOUR - LIMITS.beatMs],
    ['a clock set back', { wallMs: -HOUR }, 'clock_jumped', 0],
    ['a sleep without the time since boot', { wallMs: HOUR, sinceBootMs: null }, 'clock_jumped', HOUR - LIMITS.beatMs],
  ])('is recognised by its signs: %s', (_, step, cause, lengthMs) => {
    const found = recogniseStandstill(START, readingsAfter(step), LIMITS);
    expect(found).toMatchObject({ cause, until: readingsAfter(step).wallMs });
    expect((found?.until ?? 0) - (found?.from ?? 0)).toBe(lengthMs);
  });

  test.each<[string, Partial<Readings>]>([
    ['a beat in time', {}],
    ['a beat as late as the bound', { wallMs: 35 * SECOND, monotonicMs: 35 * SECOND }],
    ['a short sleep', { wallMs: 30 * SECOND, sinceBootMs: 30 * SECOND }],
    ['a clock that is set by less than the bound', { wallMs: 35 * SECOND }],
  ])('is not seen in %s', (_, step) => {
    expect(recogniseStandstill(START, readingsAfter(step), LIMITS)).toBeNull();
  });
});

describe('a gap', () => {
  const gap: WatchdogGap = { gap_id: 'g', from: 0, until: 1, cause: 'process_stood', by: OWNER, acted: false };
  const ofOwner = { run_id: 'r', owner: OWNER, pid: null, started_at: 0 };
  const besideIt = { ...ofOwner, owner: { ...OWNER, pid: 11 } };
  const elsewhere = { ...ofOwner, owner: { ...OWNER, host: 'another' } };

  test('of the acting watchdog excuses every run; of an observing one, only the runs of its own process', () => {
    for (const run of [ofOwner, besideIt, elsewhere]) expect(excuses({ ...gap, acted: true }, run)).toBe(true);
    expect([ofOwner, besideIt, elsewhere].map((run) => excuses(gap, run))).toEqual([true, false, false]);
  });

  test('of a whole host excuses the runs of that host', () => {
    const slept = { ...gap, cause: 'host_slept' } as const;
    expect([ofOwner, besideIt, elsewhere].map((run) => excuses(slept, run))).toEqual([true, true, false]);
  });
});

/** A host that can sleep: the wall clock and the time since boot go on, monotonic clock and timers stand. */
async function openSleeper(options: WatchdogOptions = {}) {
  let sleptMs = 0;
  let scene: WatchdogScene | null = null;
  const sinceBootMs = () => sleptMs + (scene?.clock.monotonic() ?? 0);
  scene = await openWatchdogScene({ counters: { sinceBootMs, processorMs: () => 0 }, ...options });
  const { clock } = scene;
  const sleep = (ms: number) => {
    sleptMs += ms;
    clock.moveWallClock(ms);
  };
  return { ...scene, sleep };
}

async function startPulse(scene: WatchdogScene): Promise<void> {
  await scene.gaps.start();
  await startWatchdog(scene);
}

/** Sessions that have just said something. */
async function busySessions(scene: WatchdogScene, count: number, ...rest: ParametersAfterId) {
  const ids = Array.from({ length: count }, (_, index) => String(index + 1));
  const sessions = await Promise.all(ids.map((id) => runOf(scene, id, ...rest)));
  for (const session of sessions) for (const line of BEGINNING) journalOf(scene, session).append(line);
  return sessions;
}
type ParametersAfterId = Parameters<typeof runOf> extends [unknown, unknown?, ...infer Rest] ? Rest : never;

/** The lines as they are; one that is being written now is left out. */
function gapEvents({ events }: WatchdogScene): CriticalEvent[] {
  const text = existsSync(events.file) ? readFileSync(events.file, 'utf8') : '';
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as CriticalEvent).filter(({ event }) => event === 'watchdog_gap');
}

const openIncidents = ({ store }: WatchdogScene) => store.records.openIncidents();

describeWithRedis('a host that slept for a night', () => {
  // rule: a-standstill-accuses-nobody
  test('accuses none of 50 sessions, writes one event, and finds the one that stays silent afterwards', async () => {
    const scene = await openSleeper();
    const sessions = await busySessions(scene, 50);
    await startPulse(scene);
    await scene.clock.advance(MINUTE);
    scene.sleep(8 * HOUR);
    // The first look after waking comes before any timer: somebody's wake, or the schedule.
    for (const { session_id } of sessions) scene.agenda.lookNow(session_id);
    const wokeAt = scene.clock.now();
    await until(() => gapEvents(scene).length > 0);
    await atRest(scene);
    await scene.clock.advance(SILENCE_MS - 1);
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    expect(gapEvents(scene)).toMatchObject([
      {
        final: true,
        reason: 'late_by_28800_s',
        details: { cause: 'host_slept', until: isoTime(wokeAt), monotonic_ms: 0, acted: true },
      },
    ]);
    await scene.clock.advance(2 * MINUTE);
    await until(async () => (await openIncidents(scene)).filter(({ subject }) => subject === undefined).length === 50);
    expect(gapEvents(scene)).toHaveLength(1);
  });

  // rule: a-gap-is-known-to-others
  test('is known to a watchdog that is started afterwards, and to one that only reads', async () => {
    const scene = await openSleeper();
    const [session] = await busySessions(scene, 1);
    await startPulse(scene);
    scene.sleep(8 * HOUR);
    scene.gaps.now();
    const run = session?.run ?? null;
    await until(async () => {
      const successor = successorOf(scene);
      await successor.start();
      await successor.refresh();
      await successor.stop();
      return successor.of(run).length === 1;
    });
    const successor = successorOf(scene);
    await successor.start();
    await successor.refresh();
    expect(successor.lastEnd(run)).toBe(scene.gaps.lastEnd(run));
    expect(successor.of(null)).toMatchObject([{ cause: 'host_slept', acted: true }]);
    await successor.stop();
    expect(gapEvents(scene)).toHaveLength(1);
  });

  // rule: an-owner-gets-time-after-a-gap
  test('considers no run lost before its owner had a lease of time to renew, and another one to end it', async () => {
    const scene = await openSleeper();
    // Of another host, so that only the lease tells.
    await busySessions(scene, 1, OWNER, LEASE_MS);
    await startPulse(scene);
    scene.sleep(8 * HOUR);
    scene.agenda.tick();
    await until(() => gapEvents(scene).length > 0);
    await scene.clock.advance(2 * LEASE_MS);
    scene.agenda.tick();
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    await scene.clock.advance(1);
    scene.agenda.tick();
    await until(async () => (await openIncidents(scene)).length === 1);
    expect(await openIncidents(scene)).toMatchObject([{ rule: 'orphan' }]);
  });
});

describeWithRedis('a message that waits', () => {
  test('while the host sleeps is no backlog before it has waited for as long again', async () => {
    const scene = await openSleeper();
    await acceptMessage(scene, '1');
    await startPulse(scene);
    scene.sleep(8 * HOUR);
    scene.agenda.tick();
    await until(() => gapEvents(scene).length > 0);
    await scene.clock.advance(BACKLOG_MS - MINUTE);
    scene.agenda.tick();
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    await scene.clock.advance(MINUTE + 1);
    await until(async () => (await openIncidents(scene)).length === 1);
    expect(await openIncidents(scene)).toMatchObject([
      { rule: 'backlog', findings: [{ reason: 'waiting_for_10_minutes' }] },
    ]);
  });
});

describeWithRedis('a watchdog that was stopped', () => {
  test('for longer than the silence limit accuses nobody, and acts only after it has renewed its lease', async () => {
    const scene = await openSleeper();
    await busySessions(scene, 3);
    await startPulse(scene);
    await scene.clock.stall(SILENCE_MS + MINUTE);
    await until(() => gapEvents(scene).length > 0);
    await until(() => scene.watchdogLease.isActing);
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    expect(gapEvents(scene)).toMatchObject([{ reason: 'late_by_655_s', details: { cause: 'process_stood' } }]);
  });

  // rule: a-standstill-accuses-nobody
  test('for no longer than the lateness limit accuses as usual', async () => {
    const scene = await openSleeper();
    await busySessions(scene, 1);
    await startPulse(scene);
    await scene.clock.advance(SILENCE_MS - 20 * SECOND);
    await scene.clock.stall(21 * SECOND);
    await until(async () => (await openIncidents(scene)).length === 1);
    expect(gapEvents(scene)).toEqual([]);
  });

  // rule: silence-of-agents-alone-counts
  test('while only the agents were stopped accuses them: nothing of its own was late', async () => {
    const scene = await openSleeper();
    await busySessions(scene, 5);
    await startPulse(scene);
    await scene.clock.advance(SILENCE_MS + SECOND);
    const accused = (await openIncidents(scene)).filter(({ subject }) => subject === undefined);
    expect(accused).toHaveLength(5);
    expect(gapEvents(scene)).toEqual([]);
  });

  test('has its gap recorded once, although the store was unreachable when it was found', async () => {
    let isAway = true;
    const scene = await openSleeper();
    const add = scene.store.gaps.add.bind(scene.store.gaps);
    Object.assign(scene.store.gaps, {
      add: (...args: Parameters<typeof add>) => (isAway ? Promise.reject(new Error('Redis is away')) : add(...args)),
    });
    const [session] = await busySessions(scene, 1);
    await startPulse(scene);
    scene.sleep(HOUR);
    await scene.clock.advance(LIMITS.beatMs);
    await until(() => scene.logged.some((line) => line.includes('could not be recorded yet: Redis is away')));
    expect(scene.gaps.of(session?.run ?? null)).toHaveLength(1);
    isAway = false;
    await until(async () => {
      await scene.clock.advance(LIMITS.beatMs);
      const successor = successorOf(scene);
      await successor.start();
      await successor.refresh();
      await successor.stop();
      return successor.of(session?.run ?? null).length === 1;
    });
    expect(gapEvents(scene)).toHaveLength(1);
  });
});

describeWithRedis('a wall clock that is set', () => {
  test.each([
    ['forward', HOUR],
    ['back', -HOUR],
  ])('%s by an hour accuses nobody, and one event reports it', async (direction, ms) => {
    const scene = await openSleeper();
    await busySessions(scene, 5);
    await startPulse(scene);
    await scene.clock.advance(MINUTE);
    scene.clock.moveWallClock(ms);
    scene.agenda.tick();
    await until(() => gapEvents(scene).length > 0);
    await scene.clock.advance(SILENCE_MS - MINUTE);
    scene.agenda.tick();
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    expect(gapEvents(scene)).toMatchObject([
      { reason: `clock_set_${direction}_by_3600_s`, details: { cause: 'clock_jumped' } },
    ]);
  });
});

describeWithRedis('a restart', () => {
  // rule: a-standstill-accuses-nobody
  test('excuses nothing: a session that was silent before is accused at the first look', async () => {
    const scene = await openSleeper();
    await busySessions(scene, 1);
    await scene.clock.advance(SILENCE_MS + SECOND);
    await startPulse(scene);
    await until(async () => (await openIncidents(scene)).length === 1);
    expect(gapEvents(scene)).toEqual([]);
  });
});

/** A watchdog of the same logs folder that has just been started. */
function successorOf({ clock, logger, events, store, folder: logsFolder }: WatchdogScene): WatchdogGaps {
  return new WatchdogGaps({
    clock,
    counters: { sinceBootMs: () => null, processorMs: () => 0 },
    logger,
    events,
    store: store.gaps,
    logsFolder,
    here: { ...HERE, pid: 1 },
    limits: LIMITS,
    onGap: () => undefined,
  });
}
