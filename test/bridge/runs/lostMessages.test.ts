import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { LOST_TEXT } from '../../../monitoring/incident/texts/chatTexts.js';
import { revivalSessionId } from '../../../src/ids.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import { DAY, HOUR } from '../../../src/time.js';
import { describeWithRedis, forgetAll } from '../../harness/redis.js';
import { must, runIdOf, startRun } from '../../monitoring/incident/saga/sagaScene.js';
import { answerOnDisk, beginOnDisk, type LostScene, openLostScene, type Place } from './lostScene.js';

describeWithRedis('open messages that Redis and the last bridge took along', () => {
  // rule: a-lost-redis-and-bridge-cost-no-end
  test('get one end each at the start: an answer on disk, else a failure; one event names all of them first', async () => {
    const scene = await openLostScene();
    const { store } = scene;
    const [lost, unsent, doubtful] = [await scene.accept('1'), await scene.accept('2'), await scene.accept('3')];
    await answerOnDisk(scene, unsent.session_id, 'forty-two');
    await answerOnDisk(scene, doubtful.session_id, 'forty-three', false);
    await forgetAll(store);
    const seen: (string | null)[] = [];
    const note = async (...ids: readonly string[]) => {
      scene.reported.push([...ids]);
      for (const id of ids) seen.push(await store.redis.get(store.keys.session(id)));
    };
    const ids = [lost, unsent, doubtful].map(({ session_id }) => session_id);
    expect(await scene.bridge(scene.register(), note).endHere()).toEqual(ids);
    expect(scene.reported).toEqual([ids]);
    expect(seen).toEqual([null, null, null]);
    expect(await endsOf(scene, [lost, unsent, doubtful])).toEqual([
      { status: 'failed', kind: 'failure', text: LOST_TEXT, state: 'queued' },
      { status: 'completed', kind: 'answer', text: 'forty-two', state: 'queued' },
      // It may be in the chat already.
      { status: 'completed', kind: 'answer', text: 'forty-three', state: 'sending' },
    ]);
    expect((await store.records.lanes('host-a')).filter(({ head }) => head !== null)).toEqual([]);
    expect(await scene.bridge().endHere()).toEqual([]);
    expect(scene.reported).toHaveLength(1);
  });

  test("a second attempt's answer on disk is the answer of its message", async () => {
    const scene = await openLostScene();
    const session = await scene.accept('1');
    const revival = revivalSessionId(session.session_id);
    await answerOnDisk(scene, revival, 'in the end');
    await forgetAll(scene.store);
    expect(await scene.bridge().endHere()).toEqual([revival]);
    expect(await scene.store.records.session(revival)).toMatchObject({ status: 'completed', answer: 'in the end' });
    expect(await scene.bridge().endHere()).toEqual([]);
  });

  // rule: a-lost-redis-and-bridge-cost-no-end
  test.each([0, HOUR])(
    'a second attempt that had begun is the one that ends, also if the clock was set back by %i ms meanwhile',
    async (backMs) => {
      const scene = await openLostScene();
      const [session, other] = [await scene.accept('1'), await scene.accept('2')];
      scene.clock.moveWallClock(-backMs);
      beginOnDisk(scene, revivalSessionId(session.session_id), session.created_at);
      // Of an older message with the same number.
      scene.clock.moveWallClock(-HOUR);
      beginOnDisk(scene, revivalSessionId(other.session_id), other.created_at - 1);
      await forgetAll(scene.store);
      const revival = revivalSessionId(session.session_id);
      expect(await scene.bridge().endHere()).toEqual([revival, other.session_id]);
      expect(await scene.store.records.session(revival)).toMatchObject({ status: 'failed', attempt: 2 });
      expect(await scene.store.records.session(session.session_id)).toBeNull();
      expect(await scene.store.records.outboxEntry(revival)).toMatchObject({ kind: 'failure', text: LOST_TEXT });
      expect(await scene.bridge().endHere()).toEqual([]);
    },
  );

  test('an answer of the first attempt is the end, although a second one had begun', async () => {
    const scene = await openLostScene();
    const session = await scene.accept('1');
    await answerOnDisk(scene, session.session_id, 'forty-two');
    beginOnDisk(scene, revivalSessionId(session.session_id), session.created_at);
    await forgetAll(scene.store);
    expect(await scene.bridge().endHere()).toEqual([session.session_id]);
    expect(await scene.store.records.session(session.session_id)).toMatchObject({ answer: 'forty-two' });
  });

  // rule: a-reported-end-is-the-only-end
  test('an answer that the first attempt gave after it was given up is not sent to a chat that read of the failure', async () => {
    const scene = await openLostScene();
    const session = await scene.accept('1');
    const revival = revivalSessionId(session.session_id);
    await answerOnDisk(scene, session.session_id, 'forty-two');
    beginOnDisk(scene, revival, session.created_at);
    for (const id of [session.session_id, revival]) scene.inChat.set(id, 'failure');
    await forgetAll(scene.store);
    expect(await scene.bridge().endHere()).toEqual([session.session_id]);
    expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ kind: 'failure' });
    expect(await scene.store.records.session(session.session_id)).toMatchObject({ status: 'failed', answer: null });
  });

  test('an end that the chat is known to have is stored as it was, not replaced', async () => {
    const scene = await openLostScene();
    const session = await scene.accept('1');
    scene.inChat.set(session.session_id, 'cancelled');
    await forgetAll(scene.store);
    await scene.bridge().endHere();
    expect(await endsOf(scene, [session])).toMatchObject([{ status: 'cancelled', kind: 'cancelled' }]);
  });

  test('a start that is killed midway is continued by the next one, and no message gets a second end', async () => {
    const scene = await openLostScene();
    const asked = [await scene.accept('1'), await scene.accept('2'), await scene.accept('3')];
    await forgetAll(scene.store);
    const { regain } = scene.store;
    const { ended } = regain;
    let stored = 0;
    regain.ended = async (...given) => {
      if (stored === 1) throw new Error('killed');
      stored += 1;
      return ended.apply(regain, given);
    };
    await expect(scene.bridge().endHere()).rejects.toThrow('killed');
    regain.ended = ended;
    const ids = asked.map(({ session_id }) => session_id);
    expect(await scene.bridge().endHere()).toEqual(ids.slice(1));
    expect(scene.reported).toEqual([ids, ids.slice(1)]);
    const before = await scene.store.records.outboxEntries();
    expect(await scene.bridge().endHere()).toEqual([]);
    expect(await scene.store.records.outboxEntries()).toEqual(before);
  });

  // rule: a-lost-redis-and-bridge-cost-no-end
  test.each<[string, (scene: LostScene, session: AgentSession) => Promise<Place | undefined>]>([
    ['another Redis is configured', async () => ({ redisUrl: 'redis://store.example:6380' })],
    ['another database of it is configured', async () => ({ redisUrl: 'redis://store.example:6379/1' })],
    ['its own Redis is configured', async () => ({ redisUrl: null })],
    ['another bot is configured', async () => ({ bot: '456' })],
    ['no bot is configured', async () => ({ bot: null })],
    [
      'the logs folder has no register',
      async ({ logsFolder }) => rmSync(join(logsFolder, 'accepted'), { recursive: true }) as undefined,
    ],
    ['its final message was delivered', async (scene, { session_id }) => closed(scene, session_id)],
    ['its second attempt was delivered', async (scene, { session_id }) => closed(scene, revivalSessionId(session_id))],
    ['Redis no longer keeps an end of that age', async ({ clock }) => clock.moveWallClock(31 * DAY) as undefined],
  ])('are left alone if %s', async (_, change) => {
    const scene = await openLostScene();
    const session = await scene.accept('1');
    await forgetAll(scene.store);
    const place = await change(scene, session);
    expect(await scene.bridge(scene.register(place)).endHere()).toEqual([]);
    expect(scene.reported).toEqual([]);
    expect(await scene.store.records.session(session.session_id)).toBeNull();
  });

  // rule: a-lost-redis-and-bridge-cost-no-end
  test.each<[string, (scene: LostScene, session: AgentSession) => Promise<unknown>]>([
    ['waits', async () => undefined],
    ['runs', async (scene, session) => startRun(scene, session)],
    ['has ended', async (scene, session) => ended(scene, session)],
    ['is a second attempt alone', async (scene, session) => onlySecond(scene, session)],
    ['could not be read and was set aside', async (scene, session) => setAside(scene, session)],
  ])('are left alone if Redis has a record that %s', async (_, change) => {
    const scene = await openLostScene();
    await change(scene, await scene.accept('1'));
    expect(await scene.bridge().endHere()).toEqual([]);
    expect(scene.reported).toEqual([]);
  });

  test.each<[string, Place]>([
    ['with other credentials, and its address in other words', { redisUrl: 'rediss://store.example' }],
  ])('are the same ones for the same Redis %s', async (_, place) => {
    const scene = await openLostScene();
    const session = await scene.accept('1');
    await forgetAll(scene.store);
    expect(await scene.bridge(scene.register(place)).endHere()).toEqual([session.session_id]);
  });

  test('are found after the clock was set back a day', async () => {
    const scene = await openLostScene();
    const session = await scene.accept('1');
    await forgetAll(scene.store);
    scene.clock.moveWallClock(-DAY);
    expect(await scene.bridge().endHere()).toEqual([session.session_id]);
  });
});

async function closed(scene: LostScene, sessionId: string): Promise<undefined> {
  const accepted = scene.register();
  accepted.ended(sessionId);
  accepted.flush();
}

async function ended(scene: LostScene, session: AgentSession): Promise<void> {
  await startRun(scene, session);
  must(await scene.store.transitions.complete(session.session_id, runIdOf(session), 'done'));
}

async function onlySecond(scene: LostScene, session: AgentSession): Promise<void> {
  await forgetAll(scene.store);
  must(await scene.store.regain.waiting(revivalOf(session, session.created_at)));
}

async function setAside(scene: LostScene, { session_id }: AgentSession): Promise<void> {
  const { redis, keys } = scene.store;
  await forgetAll(scene.store);
  await redis.hset(keys.quarantine('session', session_id), 'status', 'unreadable');
}

async function endsOf({ store }: LostScene, sessions: readonly AgentSession[]) {
  return Promise.all(
    sessions.map(async ({ session_id }) => {
      const { status } = must(await store.records.session(session_id));
      const { kind, text, state } = must(await store.records.outboxEntry(session_id));
      return { status, kind, text, state };
    }),
  );
}
