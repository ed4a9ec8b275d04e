/** The standby's watch over the bridge: a bridge that is gone is reported, whatever else looks well. */
import { expect, test } from '@jest/globals';
import { BridgeWatch } from '../../monitoring/bridgeWatch.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import type { CriticalEvent } from '../../src/incidents.js';
import { createLogger } from '../../src/logger.js';
import type { ProcessIdentity } from '../../src/model.js';
import { openStore } from '../../src/store/store.js';
import { MINUTE, SECOND } from '../../src/time.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../e2e/testScene.js';
import { ManualClock } from '../harness/clock.js';
import { freePort } from '../harness/freePort.js';
import { describeWithRedis, openTestRedis } from '../harness/redis.js';

const HOST = 'pier';
const HERE = readProcessIdentity(HOST);
const FOR_MS = 10 * MINUTE;
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
  return { clock, store, logged, start, speak, lookFor };
}

describeWithRedis('a bridge that is gone', () => {
  test('is reported after two minutes though nothing waits, once, also by a standby that was restarted, and once more when it is back', async () => {
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

  test('counts from the first look after a standby was away itself', async () => {
    const { clock, logged, start, speak, lookFor } = await openWatch();
    const watch = start();
    await speak(DEAD);
    await lookFor(watch, MINUTE);
    await clock.stall(10 * MINUTE);
    await lookFor(watch, MINUTE);
    expect(logged).toEqual([]);
  });

  test('is not missed by a standby of a host that never had one while another host has one', async () => {
    const { logged, start, store, speak, lookFor } = await openWatch();
    await speak({ ...HERE, host: 'quay' });
    await store.redis.sadd(store.keys.hosts, 'quay');
    await lookFor(start(), 5 * MINUTE);
    expect(logged).toEqual([]);
  });
});

describeScenes('a standby whose bridge is killed', () => {
  test(
    'is not ready, pings nobody, writes one event, and has the doctor call it a fault, though nothing waits',
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
      await scene.until('the standby acting', () => standby.stderr.includes('this watchdog acts now'));
      const doctor = await scene.run(['doctor', '--quick', '--json']);
      expect(doctor.exit).toMatchObject({ code: 1 });
      expect(JSON.parse(doctor.stdout).checks).toContainEqual(
        expect.objectContaining({ name: 'bridge', verdict: 'fault', found: expect.stringContaining('nothing waits') }),
      );
      // It has looked at everything as the acting one, and said nothing to the outside.
      await scene.until('its look', async () => (await readiness()).text.includes('it looked at everything'));
      expect(standby.stderr).not.toContain('WATCHDOG_PING_URL');
      await scene.startBridge();
      await scene.until('the bridge being back', () => gone().length === 2);
      await scene.until('readiness again', async () => (await readiness()).status === 200);
      expect(gone().at(-1)).toMatchObject({ final: true });
    },
    SCENE_TIMEOUT_MS,
  );
});
