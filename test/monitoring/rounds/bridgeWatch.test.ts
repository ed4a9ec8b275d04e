/** The standby's watch over the bridge: a bridge that is gone is reported, whatever else looks well. */
import { hostname } from 'node:os';
import { expect, test } from '@jest/globals';
import { BridgePresence } from '../../../bridge/health/bridgePresence.js';
import { BridgeWatch } from '../../../monitoring/rounds/bridgeWatch.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import type { CriticalEvent } from '../../../src/jobs/incidents.js';
import { openStore } from '../../../src/jobs/store.js';
import { createLogger } from '../../../src/log/logger.js';
import { MINUTE, SECOND } from '../../../src/time.js';
import { testSettings } from '../../bridge/telegram/scene.js';
import { Conversation } from '../../e2e/conversation.js';
import type { Scenario } from '../../e2e/sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../../e2e/testScene.js';
import { ManualClock } from '../../harness/clock.js';
import { freePort } from '../../harness/freePort.js';
import { describeWithRedis, openTestRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';

// covers: bridge/health/bridgePresence.ts
// covers: bridge/health/storePulse.ts

const HOST = 'pier';
const HERE = readProcessIdentity(HOST);
const FOR_MS = 10 * MINUTE;
const AFTER_RESTART: Scenario = {
  when: { message: 'service was restarted' },
  steps: [{ do: 'answer', text: 'the answer' }],
};
const LONG: Scenario = { steps: [{ do: 'call', tool: 'bash', input: { step: 'long' }, takes_ms: 600_000 }] };
/** As a killed process is seen: nobody has its start time any more. */
const DEAD: ProcessIdentity = { ...HERE, pid_start: '1' };

async function openWatch() {
  const { redis, prefix } = await openTestRedis();
  const clock = new ManualClock();
  const store = openStore(redis, clock, prefix);
  const logger = createLogger({ level: 'silent', redact: (text) => text, clock, destinations: [] });
  const logged: CriticalEvent[] = [];
  const events = { logCriticalEvent: async (event: CriticalEvent) => void logged.push(event) };
  const start = () => new BridgeWatch({ store, clock, logger, events, here: HERE, homes: [], goneMs: 2 * MINUTE });
  const speak = (owner: ProcessIdentity) =>
    store.presences.say(
      {
        v: 1,
        owner,
        started_at: clock.now(),
        said_at: clock.now(),
        bot_id: null,
        polled_at: null,
        poll_trouble: null,
        took_job_at: null,
        is_full: false,
      },
      [],
      FOR_MS,
    );
  const lookFor = async (watch: BridgeWatch, ms: number) => {
    for (let left = ms; left > 0; left -= 5 * SECOND) {
      await watch.runOnce();
      await clock.advance(5 * SECOND);
    }
  };
  const presence = new BridgePresence({
    presences: store.presences,
    clock,
    logger,
    here: HERE,
    settings: testSettings([]),
    botId: '7',
    worker: { lastActiveAt: null, isFull: false },
    intake: null,
  });
  afterThisTest(() => presence.stop());
  return { clock, store, logged, start, speak, lookFor, presence };
}

describeWithRedis('a bridge that is gone', () => {
  // rule: an-absent-bridge-is-reported
  test('is reported after two minutes even if nothing waits, once, even if the standby restarts, and when it is back', async () => {
    const { logged, start, speak, lookFor } = await openWatch();
    const watch = start();
    await speak(HERE);
    await lookFor(watch, 5 * MINUTE);
    expect(logged).toEqual([]);
    await speak(DEAD);
    await lookFor(watch, 110 * SECOND);
    expect(logged).toEqual([]);
    await lookFor(watch, 10 * MINUTE);
    const restarted = start();
    await lookFor(restarted, 5 * MINUTE);
    expect(logged).toMatchObject([{ event: 'bridge_gone', final: false, details: { host: HOST } }]);
    await speak(HERE);
    await lookFor(restarted, MINUTE);
    expect(logged).toMatchObject([
      { action_taken: 'detected' },
      { event: 'bridge_gone', final: true, action_taken: 'suppressed' },
    ]);
    expect(new Set(logged.map(({ incident_id }) => incident_id)).size).toBe(1);
    await speak(DEAD);
    await lookFor(restarted, 3 * MINUTE);
    expect(logged).toHaveLength(3);
  });

  test('counts from the first check after a standby was away itself', async () => {
    const { clock, logged, start, speak, lookFor } = await openWatch();
    const watch = start();
    await speak(DEAD);
    await lookFor(watch, MINUTE);
    await clock.stall(10 * MINUTE);
    await lookFor(watch, MINUTE);
    expect(logged).toEqual([]);
  });

  // rule: a-stopping-bridge-is-not-absent
  test('is not one that is stopping, however long its runs take; it serves nobody meanwhile', async () => {
    const { clock, store, logged, start, lookFor, presence } = await openWatch();
    const watch = start();
    await presence.start();
    await lookFor(watch, MINUTE);
    expect(await store.presences.ofBot('7')).toMatchObject({ owner: HERE });
    await presence.drain();
    const drainedAt = clock.now();
    const word = await store.presences.lastSeen(HOST);
    await lookFor(watch, 10 * MINUTE);
    expect(logged).toEqual([]);
    expect(await watch.living()).toMatchObject({ draining_since: drainedAt, said_at: expect.any(Number) });
    expect((await watch.living())?.said_at).toBeGreaterThan(drainedAt + 9 * MINUTE);
    // Another bridge may fetch the bot's messages, and other hosts take over what waits.
    expect(await store.presences.ofBot('7')).toBeNull();
    expect(await store.presences.lastSeen(HOST)).toBe(word);
    await presence.stop();
    await lookFor(watch, 3 * MINUTE);
    expect(logged).toMatchObject([{ event: 'bridge_gone', final: false }]);
  });

  test('is not reported by a standby of a host that never had one while another host has one', async () => {
    const { logged, start, store, speak, lookFor } = await openWatch();
    await speak({ ...HERE, host: 'quay' });
    await store.redis.sadd(store.keys.hosts, 'quay');
    await lookFor(start(), 5 * MINUTE);
    expect(logged).toEqual([]);
  });
});

describeScenes('a standby whose bridge is stopping', () => {
  // rule: a-stopping-bridge-is-not-absent
  test(
    'stays ready and writes no event while the runs may finish; then the next bridge is admitted at once',
    async () => {
      const port = await freePort();
      const scene = await openTestScene({
        projects: { boat: { chats: [{ id: 1 }], scenarios: [AFTER_RESTART, LONG] } },
        timings: { bridgeGoneMs: 1_000, drainMs: 40_000 },
      });
      const bridge = await scene.startBridge();
      const standby = scene.start(['watchdog'], { HEALTH_PORT: String(port) });
      const readiness = async () => {
        const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
        return { status: response?.status, text: (await response?.text()) ?? '' };
      };
      await scene.until('a standby that is ready', async () => (await readiness()).status === 200);
      const asked = new Conversation(scene, 'boat', 1, 'long work');
      await asked.firstCall();
      bridge.signal('SIGTERM');
      await bridge.says('runs may finish within');
      const doctor = await scene.run(['doctor', '--quick', '--json']);
      expect(JSON.parse(doctor.stdout).checks).toContainEqual(
        expect.objectContaining({
          name: 'bridge',
          verdict: 'warning',
          found: expect.stringContaining('shutting down since'),
        }),
      );
      const readings = [await readiness()];
      const saysSo = () => readings.at(-1)?.text.includes('is stopping, its runs may finish');
      await scene.until('what the standby says, and a word long after the beginning of the drain', async () => {
        readings.push(await readiness());
        if (!saysSo()) return false;
        const { said_at: saidAt = 0, draining_since: since = 0 } =
          (await scene.store.presences.ofHost(hostname())) ?? {};
        return since > 0 && saidAt > since + 2 * SECOND;
      });
      expect(readings.filter(({ status }) => status !== 200)).toEqual([]);
      await standby.says('the bridge is stopping');
      const endedAt = Date.now();
      process.kill((await asked.start()).pid, 'SIGKILL');
      expect(await bridge.exited).toMatchObject({ code: 0 });
      const gone = await scene.until('the event', () => {
        return scene.evidence.criticalEvents().find(({ event }) => event === 'bridge_gone');
      });
      expect(Date.parse(String(gone.details?.since))).toBeGreaterThan(endedAt);
      await scene.startBridge();
      await scene.until('readiness again', async () => (await readiness()).status === 200);
      await asked.answered('the answer');
    },
    SCENE_TIMEOUT_MS,
  );
});

describeScenes('a standby whose bridge is killed', () => {
  // rule: an-absent-bridge-is-reported
  test(
    'is not ready, sends no ping, writes one event, and is a doctor fault, although nothing waits',
    async () => {
      const port = await freePort();
      const scene = await openTestScene({
        projects: { boat: { chats: [{ id: 1 }] } },
        timings: { bridgeGoneMs: 1_000 },
      });
      const bridge = await scene.startBridge();
      const standby = scene.start(['watchdog'], {
        HEALTH_PORT: String(port),
        WATCHDOG_PING_URL: 'http://127.0.0.1:1/',
      });
      const readiness = async () => {
        const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
        return { status: response?.status, text: (await response?.text()) ?? '' };
      };
      await scene.until('a standby that is ready', async () => (await readiness()).status === 200);
      await bridge.kill();
      const gone = () => scene.evidence.criticalEvents().filter(({ event }) => event === 'bridge_gone');
      await scene.until('the event', () => gone().length === 1);
      expect(await readiness()).toMatchObject({ status: 503, text: expect.stringContaining('no bridge is running') });
      await standby.says('this watchdog acts now');
      const doctor = await scene.run(['doctor', '--quick', '--json']);
      expect(doctor.exit).toMatchObject({ code: 1 });
      expect(JSON.parse(doctor.stdout).checks).toContainEqual(
        expect.objectContaining({
          name: 'bridge',
          verdict: 'fault',
          found: expect.stringContaining('nothing is waiting'),
        }),
      );
      // It has looked at everything as the acting one, and said nothing to the outside.
      await standby.says('watchdog: ');
      expect(standby.stderr).not.toContain('WATCHDOG_PING_URL');
      await scene.startBridge();
      await scene.until('the bridge being back', () => gone().length === 2);
      await scene.until('readiness again', async () => (await readiness()).status === 200);
      expect(gone().at(-1)).toMatchObject({ final: true });
    },
    SCENE_TIMEOUT_MS,
  );
});
