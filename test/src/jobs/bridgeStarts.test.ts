import { expect, test } from '@jest/globals';
import { NotedStarts } from '../../../bridge/health/notedStarts.js';
import { RestartWatch } from '../../../bridge/health/restartWatch.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import type { CriticalEvent } from '../../../src/jobs/incidents.js';
import { MINUTE, SECOND } from '../../../src/time.js';
import { describeWithRedis } from '../../harness/redis.js';
import { openSagaScene } from '../../monitoring/incident/saga/sagaScene.js';

// covers: bridge/health/restartWatch.ts

const HOST = 'host.a';

async function openBridges() {
  const { store, clock, logger, folder } = await openSagaScene();
  const told: CriticalEvent[] = [];
  const events = { logCriticalEvent: async (event: CriticalEvent) => void told.push(event) };
  /** As far as a bridge that is killed before it has reached Redis. */
  const begin = () => {
    const starts = new NotedStarts(folder, HOST, clock);
    starts.begin(logger);
    return starts;
  };
  const start = async () => {
    const here = readProcessIdentity(HOST);
    const bridge = new RestartWatch({ store, events, here, clock, logger, redact: (text) => text }, begin());
    await bridge.start();
    return bridge;
  };
  return { store, clock, told, begin, start };
}

describeWithRedis('starts of a bridge', () => {
  // rule: quick-restarts-are-reported
  test('in quick succession, without an orderly stop, are reported once; later ones are reported again', async () => {
    const { store, clock, told, start } = await openBridges();
    for (let starts = 0; starts < 5; starts += 1) {
      expect(told).toHaveLength(starts < 3 ? 0 : 1);
      await start();
      await clock.advance(5 * SECOND);
    }
    expect(told).toMatchObject([{ event: 'bridge_restarts', final: true, details: { host: HOST } }]);
    expect(told[0]?.id).toMatch(/^[\w-]+\.detected$/);
    expect(await store.bridgeStarts.recent(HOST)).toHaveLength(5);
    await clock.advance(11 * MINUTE);
    expect(await store.bridgeStarts.recent(HOST)).toEqual([]);
    for (let starts = 0; starts < 3; starts += 1) await start();
    expect(told).toHaveLength(2);
  });

  // rule: quick-restarts-are-reported
  test('count although the bridge was killed before it had reached Redis, and not if it refused to start', async () => {
    const { store, clock, told, begin, start } = await openBridges();
    for (let refused = 0; refused < 3; refused += 1) begin().ended();
    await (await start()).stop();
    expect(told).toEqual([]);
    for (let killed = 0; killed < 2; killed += 1) {
      begin();
      await clock.advance(SECOND);
    }
    expect(await store.bridgeStarts.recent(HOST)).toEqual([]);
    await start();
    expect(told).toMatchObject([{ event: 'bridge_restarts', details: { host: HOST } }]);
    expect(told[0]?.details?.starts).toHaveLength(3);
  });

  test('that each follow an orderly stop are not reported', async () => {
    const { store, told, start } = await openBridges();
    for (let starts = 0; starts < 6; starts += 1) await (await start()).stop();
    expect(told).toEqual([]);
    expect(await store.bridgeStarts.recent(HOST)).toEqual([]);
  });
});
