/** Whose turn it is to fetch a bot's messages while nobody can be asked. */
import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { acceptForOthers, MessageAcceptor } from '../../../../bridge/intake/acceptMessage.js';
import { Admission } from '../../../../bridge/intake/admission.js';
import { Commands } from '../../../../bridge/intake/commands/commands.js';
import { TelegramIntake } from '../../../../bridge/telegram/intake/intake.js';
import { PollerTurn } from '../../../../bridge/telegram/intake/pollerTurn.js';
import { RejectedUpdates } from '../../../../bridge/telegram/intake/rejectedUpdates.js';
import { openStore } from '../../../../src/jobs/store.js';
import { SECOND } from '../../../../src/time.js';
import { testFolder } from '../../../harness/folder.js';
import { describeWithRedis } from '../../../harness/redis.js';
import { RedisGate } from '../../../harness/redisGate.js';
import { afterThisTest } from '../../../harness/scope.js';
import { CHAT, openScene } from '../scene.js';

const LEASE_MS = 9 * SECOND;

describeWithRedis('a poller whose Redis is unreachable for longer than its lease', () => {
  // rule: one-bridge-fetches-messages
  test('keeps polling until another one replaces it; then it stops until the store gives it the turn', async () => {
    const scene = await openScene();
    const { clock, logger, api, settings, peer } = scene;
    const gate = await RedisGate.before(scene.redisUrl);
    const redis = new Redis(gate.url, { maxRetriesPerRequest: 1, commandTimeout: 500, retryStrategy: () => 20 });
    redis.on('error', () => undefined);
    afterThisTest(() => redis.disconnect());
    const store = openStore(redis, clock, scene.prefix);
    const logsFolder = testFolder();
    const turn = new PollerTurn({ ...scene, store }, logsFolder, LEASE_MS);
    const intake = new TelegramIntake({
      ...scene,
      watch: { refused: async () => undefined, accepted: async () => undefined },
      store,
      admission: new Admission(settings, scene),
      acceptor: new MessageAcceptor({
        ...{ store, settings, logger },
        accept: acceptForOthers(store),
        isHostLost: () => false,
      }),
      commands: new Commands(
        { ...scene, store },
        {
          describeActivity: () => null,
          isMissing: () => false,
          terminals: { live: [] },
        },
      ),
      rejected: new RejectedUpdates(scene, logsFolder),
      turn,
    });
    afterThisTest(async () => {
      await intake.stop();
      await turn.stop();
    });
    await turn.start();
    await intake.start();
    await peer.waitFor(() => peer.polling);
    gate.shut();
    await clock.advance(2 * LEASE_MS);
    expect([turn.isCertain, turn.isOurs, peer.polling]).toEqual([false, true, true]);

    await api.getUpdates(null, 0, new AbortController().signal);
    await peer.waitFor(() => !turn.isOurs, 5_000);
    const polls = () => peer.calls.filter(({ method }) => method === 'getUpdates').length;
    const before = polls();
    await clock.advance(LEASE_MS);
    expect(polls()).toBe(before);
    expect(intake.isStandingBy).toBe(true);

    await gate.open();
    const id = peer.say(CHAT, 'hello', { userId: 1 });
    let isAccepted = false;
    const accepted = peer
      .waitFor(() => peer.messages(CHAT).some(({ messageId, reactions }) => messageId === id && reactions.length > 0))
      .finally(() => {
        isAccepted = true;
      });
    while (!isAccepted) {
      await redis.ping().catch(() => undefined);
      await clock.advance(SECOND);
    }
    await accepted;
    expect(turn.isCertain).toBe(true);
  });
});
