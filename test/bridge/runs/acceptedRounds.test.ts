import { expect, test } from '@jest/globals';
import type { AcceptedMessages } from '../../../bridge/accepted/acceptedMessages.js';
import { AcceptedRounds } from '../../../bridge/runs/acceptedRounds.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { laneOf } from '../../../src/jobs/names.js';
import { DAY, MINUTE, SECOND } from '../../../src/time.js';
import { describeWithRedis, forgetAll } from '../../harness/redis.js';
import {
  acceptMessage,
  HOST,
  must,
  OWNER,
  openIncident,
  openSagaScene,
  releaseRun,
  runIdOf,
  settle,
  startRun,
} from '../../monitoring/incident/saga/sagaScene.js';
import { type LostScene, openLostScene } from './lostScene.js';

const HERE = {
  host: HOST,
  logsFolder: '',
  retention: { keptMs: 30 * DAY, archiveMs: 0, archiveBytes: 0, logBytes: 0 },
};

function roundsOf(scene: LostScene, known: ReadonlySet<string> = new Set()) {
  const accepted = scene.register();
  const lost = scene.bridge(accepted);
  const rounds = new AcceptedRounds({ ...scene, accepted, lost, settings: HERE, isKnown: (id) => known.has(id) });
  return { accepted, rounds };
}

describeWithRedis('the register of accepted messages, while Redis works', () => {
  test('is closed for what other processes answered, once the answer is delivered and its progress message has its last line', async () => {
    const scene = await openLostScene();
    const { store } = scene;
    const session = await startRun(scene, await scene.accept('1'));
    await store.transitions.complete(session.session_id, runIdOf(session), 'done');
    const { rounds, accepted } = roundsOf(scene);
    await rounds.runOnce();
    expect(await openIds(accepted)).toEqual([session.session_id]);
    const claimed = must(await store.outbox.claim(session.session_id, MINUTE, OWNER));
    const sent = must(await store.outbox.save(claimed.entry, { state: 'sent', progress_message_id: '7' }));
    await rounds.runOnce();
    // Its progress message still shows work: if Redis loses everything now, nothing else knows of that.
    expect(await openIds(accepted)).toEqual([session.session_id]);
    must(await store.outbox.save(sent, { progress_message_id: null }));
    await rounds.runOnce();
    expect(await openIds(accepted)).toEqual([]);
  });

  test('learns what was accepted elsewhere for a lane of this host, with the time of its message, and nothing else', async () => {
    const scene = await openLostScene();
    const { store, clock } = scene;
    const session = await startRun(scene, await acceptMessage(scene, '1'));
    const saga = scene.saga();
    const incident = await openIncident(scene, session);
    await clock.advance(MINUTE);
    await releaseRun(scene, session);
    await settle(saga, incident.incident_id);
    expect((await store.records.sessionIds('pending')).concat(await store.records.sessionIds('active'))).toEqual([
      `${session.session_id}_r1`,
    ]);
    await elsewhere(scene, '2');
    const { rounds, accepted } = roundsOf(scene);
    await rounds.runOnce();
    const open = await accepted.open();
    expect(open.map((message) => [message.session.session_id, message.session.created_at])).toEqual([
      [session.session_id, session.created_at],
    ]);
  });

  // rule: a-lost-redis-and-bridge-cost-no-end
  test('ends a message that Redis has lost and no process stores again, after a while; a known one is left alone', async () => {
    const scene = await openLostScene();
    const { store, clock } = scene;
    const [lost, known, back] = [await scene.accept('1'), await scene.accept('2'), await scene.accept('3')];
    const other = await elsewhere(scene, '4');
    const { rounds, accepted } = roundsOf(scene, new Set([known.session_id]));
    accepted.note(other);
    await forgetAll(store);
    await rounds.runOnce();
    await clock.advance(30 * SECOND);
    await store.regain.waiting(back);
    await rounds.runOnce();
    expect(scene.reported).toEqual([]);
    await clock.advance(30 * SECOND);
    await rounds.runOnce();
    expect(scene.reported).toEqual([[lost.session_id]]);
    expect(await store.records.session(lost.session_id)).toMatchObject({
      status: 'failed',
      end_reason: 'store_forgot',
    });
    await clock.advance(8 * MINUTE);
    await rounds.runOnce();
    expect(scene.reported).toHaveLength(1);
    await clock.advance(MINUTE);
    await rounds.runOnce();
    expect(scene.reported.slice(1)).toEqual([[other.session_id]]);
    expect(await store.records.session(known.session_id)).toBeNull();
  });

  test('says anew what Redis has, so that a long wait does not look like an end that has expired', async () => {
    const scene = await openLostScene();
    const session = await scene.accept('1');
    const { rounds, accepted } = roundsOf(scene);
    await rounds.runOnce();
    await scene.clock.advance(29 * DAY);
    await rounds.runOnce();
    await scene.clock.advance(29 * DAY);
    await forgetAll(scene.store);
    expect((await accepted.open()).map(({ seenAt }) => scene.clock.now() - seenAt)).toEqual([29 * DAY]);
    expect(await scene.bridge().endHere()).toEqual([session.session_id]);
  });

  test('forgets what Redis may have forgotten in order, because it ended too long ago', async () => {
    const scene = await openLostScene();
    await scene.accept('1');
    await forgetAll(scene.store);
    scene.clock.moveWallClock(31 * DAY);
    const { rounds, accepted } = roundsOf(scene);
    await rounds.runOnce();
    expect(await openIds(accepted)).toEqual([]);
    expect(scene.reported).toEqual([]);
  });
});

test('a Redis that is away stops no round', async () => {
  const scene = await openSagaScene();
  const failing = async () => Promise.reject(new Error('away'));
  const store = {
    ...scene.store,
    records: { ...scene.store.records, sessionIds: failing },
  } as unknown as LostScene['store'];
  const accepted = {
    open: failing,
    note: () => undefined,
    ended: () => undefined,
    beginAgain: failing,
    close: () => undefined,
  };
  const lost = { missing: failing, end: failing };
  const rounds = new AcceptedRounds({ ...scene, store, accepted, lost, settings: HERE, isKnown: () => false });
  await rounds.start();
  await scene.clock.untilWaiting();
  await rounds.stop();
  expect(scene.logged.join('')).toContain('away');
});

async function openIds(accepted: AcceptedMessages): Promise<string[]> {
  return (await accepted.open()).map(({ session }) => session.session_id);
}

/** @returns a session that waits in a lane of another host */
async function elsewhere(scene: LostScene, messageId: string): Promise<AgentSession> {
  const { request, ...session } = await acceptMessage(
    { ...scene, store: { ...scene.store, transitions: taking(scene) } },
    messageId,
  );
  return { ...session, request };
}

function taking({ store }: LostScene): LostScene['store']['transitions'] {
  const { transitions } = store;
  const accept: typeof transitions.accept = (draft, how) =>
    transitions.accept({ ...draft, lane: laneOf('host-z', '/srv/z') }, how);
  return Object.create(transitions, { accept: { value: accept } });
}
