/** Two bridges with one host id take each other's runs for their own, so the second one is refused. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { OnlyBridge } from '../../../bridge/health/onlyBridge.js';
import { UsageError } from '../../../src/errors.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { openStore } from '../../../src/jobs/store.js';
import { createLogger } from '../../../src/log/logger.js';
import { SECOND } from '../../../src/time.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../../e2e/testScene.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis, openTestRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';

const HERE = readProcessIdentity('pier');
/** As a machine looks that has the same host id, or this one before it was booted anew. */
const UNSEEN: ProcessIdentity = { ...HERE, boot_id: 'another-boot', pid: 77 };
const KILLED: ProcessIdentity = { ...HERE, pid_start: '1' };

async function openClaims() {
  const { redis, prefix } = await openTestRedis();
  const clock = new ManualClock();
  const { leases } = openStore(redis, clock, prefix);
  const logger = createLogger({ level: 'silent', redact: (text) => text, clock, destinations: [] });
  const logsFolder = testFolder();
  const stopping = new AbortController().signal;
  const bridgeOf = (here: ProcessIdentity) => {
    const only = new OnlyBridge({ here, clock, logger, logsFolder, redisUrl: null, stopping });
    afterThisTest(() => only.stop());
    return only;
  };
  return { clock, leases, bridgeOf };
}

describeWithRedis('a claim of a host id by a dead bridge', () => {
  test('delays nobody if its process is known to have ended', async () => {
    const { leases, bridgeOf } = await openClaims();
    await bridgeOf(KILLED).claim(leases);
    await bridgeOf(HERE).claim(leases);
  });

  // rule: one-bridge-per-host-id
  test('is waited for if its process cannot be checked from here, but only until it expires', async () => {
    const { clock, leases, bridgeOf } = await openClaims();
    await leases.hold('bridge:pier', JSON.stringify(UNSEEN), 30 * SECOND);
    let isClaimed = false;
    const claiming = bridgeOf(HERE)
      .claim(leases)
      .then(() => {
        isClaimed = true;
      });
    for (let waited = 0; waited < 30; waited += 1) {
      await clock.untilWaiting();
      expect(isClaimed).toBe(false);
      await clock.advance(SECOND);
    }
    await claiming;
  });

  test('refuses the new bridge if it is renewed meanwhile: the old one lives on another machine', async () => {
    const { clock, leases, bridgeOf } = await openClaims();
    const owner = JSON.stringify(UNSEEN);
    await leases.hold('bridge:pier', owner, 30 * SECOND);
    const refused = expect(bridgeOf(HERE).claim(leases)).rejects.toThrow(/host id "pier" is running: process 77/);
    await clock.untilWaiting();
    await leases.hold('bridge:pier', owner, 40 * SECOND);
    await clock.advance(SECOND);
    await refused;
  });

  // rule: one-bridge-per-host-id
  test('that another bridge has taken ends the one that lost it, with an explanation', async () => {
    const { clock, leases, bridgeOf } = await openClaims();
    const only = bridgeOf(HERE);
    await only.claim(leases);
    const lost = new Promise((resolve) => only.lost.addEventListener('abort', resolve));
    await leases.hold('bridge:pier', JSON.stringify(UNSEEN), 30 * SECOND, { isDead: () => true });
    await clock.untilWaiting();
    await clock.advance(10 * SECOND);
    await lost;
    expect(only.lost.reason).toBeInstanceOf(UsageError);
  });
});

describeScenes('a second bridge with the same host id', () => {
  // rule: one-bridge-per-host-id
  test(
    'is refused with exit code 2, even with other logs or an emptied Redis; a successor of a killed one is not',
    async () => {
      const scene = await openTestScene({ projects: { boat: { chats: [{ id: 1 }] } } });
      const first = await scene.startBridge({ WATCHKEEPER_HOST: 'pier' });
      const other = join(scene.folder, 'other-logs');
      mkdirSync(other);
      const refuse = async (environment: Record<string, string>) => {
        const second = await scene.run(['bridge'], { WATCHKEEPER_HOST: 'pier', ...environment });
        expect(second.exit).toMatchObject({ code: 2 });
        expect(second.stderr).toMatch(
          new RegExp(`host id "pier" is running: process ${first.pid}, started at 20.*Stop it first.*WATCHKEEPER_HOST`),
        );
      };
      await refuse({});
      await refuse({ WATCHKEEPER_LOGS: other });
      await scene.store.redis.flushall();
      await refuse({ WATCHKEEPER_LOGS: other });
      expect(first.exit).toBeNull();
      await first.kill();
      const next = await scene.startBridge({ WATCHKEEPER_HOST: 'pier' });
      expect(next.exit).toBeNull();
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'is refused by the record in Redis if the machine shows nothing',
    async () => {
      const scene = await openTestScene({ projects: { boat: { chats: [{ id: 1 }] } } });
      const first = await scene.startBridge({ WATCHKEEPER_HOST: 'pier' });
      const elsewhere = join(scene.folder, 'tmp');
      mkdirSync(elsewhere);
      const second = await scene.run(['bridge'], {
        WATCHKEEPER_HOST: 'pier',
        WATCHKEEPER_LOGS: join(scene.folder, 'other-logs'),
        TMPDIR: elsewhere,
      });
      expect(second.exit).toMatchObject({ code: 2 });
      await second.says(`process ${first.pid}`);
    },
    SCENE_TIMEOUT_MS,
  );
});
