import { expect, test } from '@jest/globals';
import { MemoryMark } from '../../../src/jobs/memoryMark.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import { openStore, type Store } from '../../../src/jobs/store.js';
import { DAY, HOUR } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { describeWithRedis, forgetAll, openTestRedis } from '../../harness/redis.js';
import {
  acceptMessage,
  activeSession,
  eventLines,
  LANE,
  LEASE_MS,
  must,
  OWNER,
  openIncident,
  openSagaScene,
  releaseRun,
  sessionNow,
  settle,
  startRun,
} from '../../monitoring/incident/saga/sagaScene.js';

describeWithRedis('a session that the store has forgotten', () => {
  // rule: a-forgotten-record-is-stored-once
  test('and that two processes store again is stored once, and its lane belongs to one run', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const run = must(session.run);
    await forgetAll(scene.store);
    const { regain, records } = scene.store;
    const other = { ...run, run_id: 'another' };
    const won = await Promise.all([
      regain.active(session, run, LEASE_MS),
      regain.active(session, other, LEASE_MS),
      regain.waiting(session),
    ]);
    expect(won.filter(Boolean)).toHaveLength(1);
    const found = must(await records.session(session.session_id));
    const { holder, waiting } = await records.lane(LANE);
    expect(holder).toBe(found.run?.run_id ?? null);
    expect(waiting).toBe(found.status === 'pending' ? 1 : 0);
  });

  test('is not stored again in a lane that another run holds, nor over a record that was set aside', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const run = must(session.run);
    const { regain, redis, keys, records } = scene.store;
    await forgetAll(scene.store);
    await startRun(scene, await acceptMessage(scene, '2'));
    expect(await regain.active(session, run, LEASE_MS)).toBe(false);
    await forgetAll(scene.store);
    await redis.hset(keys.quarantine('session', session.session_id), 'status', 'unreadable');
    expect(await regain.isMissing(session.session_id)).toBe(false);
    expect(await regain.active(session, run, LEASE_MS)).toBe(false);
    expect(await records.session(session.session_id)).toBeNull();
  });

  test('and had answered gets a final message that a sender of the forgotten one cannot change', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const { outbox, records, regain, transitions } = scene.store;
    await transitions.complete(session.session_id, must(session.run).run_id, 'aloft');
    const held = must(await outbox.claim(session.session_id, HOUR, OWNER)).entry;
    await forgetAll(scene.store);
    await scene.clock.advance(1);
    expect(await regain.ended(session, { kind: 'answer', text: 'aloft', mayBeInChat: true })).toBe(true);
    await outbox.claim(session.session_id, HOUR, OWNER);
    expect(await outbox.save({ ...held, state: 'sent' }, { progress_message_id: null })).toBeNull();
    expect(await records.outboxEntry(session.session_id)).toMatchObject({ state: 'sending' });
  });

  test('that is a second attempt uses the one revival of its message', async () => {
    const scene = await openSagaScene();
    const first = await activeSession(scene);
    const revival = {
      ...first,
      session_id: `${first.session_id}_r1`,
      attempt: 2,
      revival_of: first.session_id,
    } as const;
    await forgetAll(scene.store);
    expect(await scene.store.regain.active(revival, must(first.run), LEASE_MS)).toBe(true);
    expect(await scene.store.records.claimOf(revival)).not.toBeNull();
  });
});

const OWN_RUN = { run_id: 'run-of-the-second', owner: OWNER, pid: 78, started_at: 0 };
const STORED_AGAIN = {
  'a run that goes on': (regain: Store['regain'], revival: AgentSession) => regain.active(revival, OWN_RUN, LEASE_MS),
  'one that waits': (regain: Store['regain'], revival: AgentSession) => regain.waiting(revival),
  'its answer': (regain: Store['regain'], revival: AgentSession) =>
    regain.ended(revival, { kind: 'answer', text: 'the answer', mayBeInChat: true }),
} as const;

describeWithRedis('a second attempt that a rolled-back store has forgotten', () => {
  for (const [what, storeAgain] of Object.entries(STORED_AGAIN)) {
    test(`stored again (${what}) takes the lane and ends the first: its incident revives and reports nothing more`, async () => {
      const scene = await openSagaScene();
      const { regain, records } = scene.store;
      const first = await activeSession(scene);
      const incident = await openIncident(scene, first);
      await releaseRun(scene, await sessionNow(scene, first));
      const revival = revivalOf(first, scene.clock.now());
      expect(await storeAgain(regain, revival)).toBe(true);
      expect(await sessionNow(scene, first)).toMatchObject({ status: 'failed', revived_by: revival.session_id });
      expect(await records.claimOf(first)).toBe(incident.incident_id);
      const { holder, waiting } = await records.lane(LANE);
      expect(holder).toBe(what === 'a run that goes on' ? OWN_RUN.run_id : null);
      expect(waiting).toBe(what === 'one that waits' ? 1 : 0);
      await settle(scene.saga(), incident.incident_id);
      expect(await records.outboxEntry(first.session_id)).toBeNull();
      expect(await sessionNow(scene, revival)).toMatchObject({ attempt: 2, incident_id: null });
      const revived = eventLines(scene).filter(({ action_taken }) => action_taken === 'revival_attempted');
      expect(revived).not.toEqual([]);
      for (const { details } of revived) expect(details?.revival_session_id).toBe(revival.session_id);
    });
  }

  test('stored again before the first started there: that one no longer starts', async () => {
    const scene = await openSagaScene();
    const first = await acceptMessage(scene);
    const revival = revivalOf(first, scene.clock.now());
    expect(await scene.store.regain.active(revival, OWN_RUN, LEASE_MS)).toBe(true);
    expect(await sessionNow(scene, first)).toMatchObject({ status: 'failed', revived_by: revival.session_id });
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: OWN_RUN.run_id, waiting: 0 });
  });

  // rule: a-message-has-one-end-after-a-failover
  test('stays forgotten if the first was reported as failed meanwhile: a message has one end', async () => {
    const scene = await openSagaScene();
    const { regain, records } = scene.store;
    const first = await activeSession(scene);
    const incident = await openIncident(scene, first, { notRevivedBecause: 'it is not allowed' });
    const saga = scene.saga();
    await settle(saga, incident.incident_id);
    await releaseRun(scene, first);
    await settle(saga, incident.incident_id);
    expect(await records.outboxEntry(first.session_id)).toMatchObject({ kind: 'failure' });
    const revival = revivalOf(first, scene.clock.now());
    for (const storeAgain of Object.values(STORED_AGAIN)) expect(await storeAgain(regain, revival)).toBe(false);
    expect(await records.session(revival.session_id)).toBeNull();
  });

  test('is stored again even if the record of the first, or of its incident, cannot be read', async () => {
    for (const broken of ['session', 'incident'] as const) {
      const scene = await openSagaScene();
      const { regain, redis, keys } = scene.store;
      const first = await activeSession(scene);
      const incident = await openIncident(scene, first);
      if (broken === 'session') await redis.hset(keys.session(first.session_id), 'status', 'of a later version');
      else await redis.hset(keys.incident(incident.incident_id), 'doc', '{');
      const revival = revivalOf(first, scene.clock.now());
      expect(await regain.ended(revival, { kind: 'answer', text: 'the answer', mayBeInChat: false })).toBe(true);
      expect(await scene.store.records.outboxEntry(revival.session_id)).toMatchObject({ text: 'the answer' });
    }
  });

  // rule: a-second-attempt-survives-a-failover
  test('stored again while a watchdog revives the first again: one of them succeeds, with one second attempt', async () => {
    const scene = await openSagaScene();
    const { regain, records, redis, incidents } = scene.store;
    const first = await activeSession(scene);
    await openIncident(scene, first);
    await releaseRun(scene, first);
    const now = await sessionNow(scene, first);
    const [incident] = await records.openIncidents();
    const won = await Promise.all([
      regain.active(revivalOf(first, scene.clock.now()), OWN_RUN, LEASE_MS),
      incidents.revive(now, must(incident), { endReason: 'silent', guard: [] }).then((revived) => revived !== null),
    ]);
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await redis.lrange(scene.store.keys.lane(LANE), 0, -1)).toHaveLength(won[0] ? 0 : 1);
  });
});

describeWithRedis('the mark by which a process detects that the store has forgotten something', () => {
  test('distinguishes a store that lost everything or its last moment from one that lost a reply', async () => {
    const { redis, prefix } = await openTestRedis();
    const store = openStore(redis, new ManualClock(), prefix);
    const mark = new MemoryMark(redis, store.keys, new ManualClock());
    expect([await mark.renew(), await mark.renew()]).toEqual(['nothing', 'nothing']);
    const [key = ''] = await redis.keys(store.keys.memoryMark('*'));
    const older = must(await redis.get(key));
    await mark.renew();
    await redis.set(key, older);
    expect(await mark.renew()).toBe('last');
    expect(await mark.renew()).toBe('nothing');
    await forgetAll(store);
    expect([await mark.renew(), await mark.renew()]).toEqual(['all', 'nothing']);
    // Written, and only the answer lost.
    const set = redis.set.bind(redis);
    const losing = async (...args: unknown[]) => {
      await Reflect.apply(set, redis, args);
      throw new Error('Connection is closed.');
    };
    redis.set = losing as typeof redis.set;
    await expect(mark.renew()).rejects.toThrow('Connection is closed.');
    redis.set = set;
    expect(await mark.renew()).toBe('nothing');
  });

  test('is not missed by a process that was stopped for longer than the mark is kept', async () => {
    const { redis, prefix } = await openTestRedis();
    const clock = new ManualClock();
    const store = openStore(redis, clock, prefix);
    const mark = new MemoryMark(redis, store.keys, clock);
    await mark.renew();
    await clock.advance(DAY);
    await forgetAll(store);
    expect(await mark.renew()).toBe('last');
    await clock.advance(HOUR);
    await forgetAll(store);
    expect(await mark.renew()).toBe('all');
  });
});
