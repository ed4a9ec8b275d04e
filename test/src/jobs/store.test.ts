import { expect, test } from '@jest/globals';
import { FencedError } from '../../../src/errors.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import type { AgentSession, Run, SessionRecord } from '../../../src/jobs/model.js';
import { MOST_INTERRUPTIONS } from '../../../src/jobs/model.js';
import { conversationKey, laneOf } from '../../../src/jobs/names.js';
import { openStore } from '../../../src/jobs/store.js';
import { applyCommit } from '../../../src/redis/commit.js';
import { closeRedis } from '../../../src/redis/connect.js';
import { MINUTE } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { describeWithRedis, openTestRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';
import { until } from '../../monitoring/watchdogScene.js';

const LEASE_MS = 3 * MINUTE;
const LANE = laneOf('host-a', '/srv/popoto');

async function openTestStore() {
  const { redis, prefix } = await openTestRedis();
  const clock = new ManualClock();
  const store = openStore(redis, clock, prefix);
  const accept = async (messageId: string, overrides: Partial<SessionRecord> = {}) =>
    (await store.transitions.accept(draft(messageId, overrides))).session;
  const startNext = async (session: AgentSession, runId = `run-${session.session_id}`) =>
    must(await store.transitions.start(session, run(runId), LEASE_MS)).session;
  return { redis, store, clock, accept, startNext };
}

function draft(messageId: string, overrides: Partial<SessionRecord> = {}) {
  return {
    session_id: `tg_popoto_-100_${messageId}`,
    project_key: 'popoto',
    chat_id: '-100',
    message_id: messageId,
    thread_id: null,
    sender: { id: '7', name: 'Ann' },
    message_text: `ask ${messageId}`,
    conversation_key: conversationKey('popoto', '-100', null, 0),
    lane: LANE,
    working_directory: '/srv/popoto',
    agent: 'scripted',
    ...overrides,
  };
}

function run(runId: string): Run {
  const owner = { host: 'host-a', boot_id: 'b', pid_namespace: 'n', pid: 10, pid_start: '5' };
  return { run_id: runId, owner, pid: null, started_at: 1 };
}

function must<T>(value: T | null): T {
  if (value === null) throw new Error('expected a value');
  return value;
}

function incidentFor(session: AgentSession, id = 'I1'): Incident {
  return {
    incident_id: id,
    session_id: session.session_id,
    project_key: session.project_key,
    rule: 'silence',
    findings: [],
    step: 'opened',
    acting: true,
    not_revived_because: null,
    attempt: session.attempt,
    last_tool_call: null,
    tool_count: 0,
    revival_session_id: null,
    report: { state: 'pending', url: null, tries: 0, due_at: 0, last_error: null },
    opened_at: 1,
    detected_at: null,
    stopping_at: null,
    closed_at: null,
    outcome: null,
    last_action: 'detected',
    rev: 1,
  };
}

describeWithRedis('a commit', () => {
  // rule: a-commit-is-atomic
  test('writes everything or nothing', async () => {
    const { redis, store } = await openTestStore();
    const key = store.keys.lease('x');
    const both = { writes: [['SET', key, 'new'] as const, ['SADD', store.keys.lanes('h'), 'l'] as const] };
    await redis.set(key, 'old');
    expect(await applyCommit(redis, { checks: [{ read: ['GET', key], equals: 'other' }], ...both })).toBe(false);
    expect(await redis.smembers(store.keys.lanes('h'))).toEqual([]);
    expect(await applyCommit(redis, { checks: [{ read: ['GET', key], equals: 'old' }], ...both })).toBe(true);
    expect(await redis.get(key)).toBe('new');
  });

  test('distinguishes an absent value from an empty one, and works after the script cache was emptied', async () => {
    const { redis, store } = await openTestStore();
    const key = store.keys.lease('x');
    await redis.set(key, '');
    await redis.script('FLUSH');
    const writes = [['SET', key, 'written'] as const];
    expect(await applyCommit(redis, { checks: [{ read: ['GET', key], equals: null }], writes })).toBe(false);
    expect(await applyCommit(redis, { checks: [{ read: ['GET', key], equals: '' }], writes })).toBe(true);
  });

  test('publishes one wake, unless it names two things of a kind', async () => {
    const { redis, store } = await openTestStore();
    const subscriber = redis.duplicate();
    afterThisTest(() => closeRedis(subscriber));
    await subscriber.connect();
    const heard: unknown[] = [];
    const { wakeChannel: channel } = store.keys;
    subscriber.on('message', (_, text) => void heard.push(JSON.parse(text)));
    await subscriber.subscribe(channel);
    const wakes = [{ session: 's' }, { lane: 'l' }, { outbox: 's' }, { session: 't' }, { incident: 'i' }];
    await applyCommit(redis, { checks: [], writes: wakes.map((wake) => ({ channel, wake })) });
    await redis.publish(channel, '{}');
    await until(() => heard.length === 3);
    expect(heard).toEqual([{ session: 's', lane: 'l', outbox: 's' }, { session: 't', incident: 'i' }, {}]);
  });
});

describeWithRedis('accepting', () => {
  // rule: a-message-is-accepted-once
  test('a message that was accepted before changes nothing', async () => {
    const { store } = await openTestStore();
    expect((await store.transitions.accept(draft('1'))).isNew).toBe(true);
    const again = await store.transitions.accept(draft('1', { message_text: 'edited' }));
    expect(again.isNew).toBe(false);
    expect(again.session.request.message_text).toBe('ask 1');
    expect(await store.records.waitingIn(LANE)).toEqual(['tg_popoto_-100_1']);
  });

  test('the same message id in another chat is another message', async () => {
    const { store } = await openTestStore();
    await store.transitions.accept(draft('1'));
    const other = draft('1', { session_id: 'tg_popoto_-200_1', chat_id: '-200' });
    expect((await store.transitions.accept(other)).isNew).toBe(true);
  });

  test('every text arrives as it was typed', async () => {
    const { store, accept } = await openTestStore();
    const texts = ['line\nline \u0000 \u2028 💡 \ud800 "quoted" {wk}: 日本', '"\\ud83d" as typed', '', '[1,null]'];
    for (const [index, text] of texts.entries()) {
      const lane = `host-a:/srv/${index}`;
      const { session_id } = await accept(String(index), { message_text: text, lane });
      const asRead = Buffer.from(text).toString();
      expect(must(await store.records.session(session_id)).request.message_text).toBe(asRead);
      expect(await store.lanes.head(lane)).toMatchObject({
        sessionId: session_id,
        session: { request: { message_text: asRead } },
      });
    }
  });
});

describeWithRedis('a lane', () => {
  test('runs its sessions one at a time, in order', async () => {
    const { store, accept, startNext } = await openTestStore();
    const first = await accept('1');
    const second = await accept('2');
    expect(await store.transitions.start(second, run('r2'), LEASE_MS)).toBeNull();
    const active = await startNext(first, 'r1');
    expect(await store.transitions.start(second, run('r2'), LEASE_MS)).toBeNull();
    await store.transitions.complete(active.session_id, 'r1', 'done');
    expect((await startNext(second, 'r2')).status).toBe('active');
  });

  // rule: one-run-starts-per-lane
  test('lets exactly one of two workers start its head', async () => {
    const { store, accept } = await openTestStore();
    const session = await accept('1');
    const starts = await Promise.all(
      ['r1', 'r2', 'r3'].map((id) => store.transitions.start(session, run(id), LEASE_MS)),
    );
    expect(starts.filter((started) => started !== null)).toHaveLength(1);
  });

  // rule: an-interruption-repeats-three-times
  test('gets an interrupted session back at its head, at most three times', async () => {
    const { store, accept, startNext, clock } = await openTestStore();
    await accept('1');
    await accept('2');
    for (let count = 1; count <= MOST_INTERRUPTIONS; count += 1) {
      const session = must(await store.records.session('tg_popoto_-100_1'));
      await startNext(session, `r${count}`);
      const proof = { run_id: `r${count}`, proven_at: clock.now(), by: 'scan' } as const;
      const pending = must(await store.transitions.interrupt(session.session_id, `r${count}`, proof));
      expect(pending).toMatchObject({ status: 'pending', interruptions: count, attempt: 1 });
      expect(await store.records.waitingIn(LANE)).toEqual(['tg_popoto_-100_1', 'tg_popoto_-100_2']);
    }
    const session = must(await store.records.session('tg_popoto_-100_1'));
    await startNext(session, 'r9');
    const proof = { run_id: 'r9', proven_at: clock.now(), by: 'scan' } as const;
    expect(await store.transitions.interrupt(session.session_id, 'r9', proof)).toBeNull();
  });
});

describeWithRedis('a run', () => {
  test('stores its answer and the message that carries it together, once', async () => {
    const { store, accept, startNext } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    expect(await store.transitions.complete(active.session_id, 'another run', 'x')).toBeNull();
    const completed = must(await store.transitions.complete(active.session_id, 'r1', 'the answer'));
    expect(completed.session).toMatchObject({
      status: 'completed',
      answer: 'the answer',
      request: { delivery: 'queued' },
    });
    expect(await store.records.outboxEntry(active.session_id)).toMatchObject({ kind: 'answer', text: 'the answer' });
    expect(await store.transitions.complete(active.session_id, 'r1', 'again')).toBeNull();
    expect(await store.records.activeRevisions()).toEqual(new Map());
    expect(await store.records.lane(LANE)).toMatchObject({ holder: null, head: null });
  });

  test('stores its answer even if the record has changed since it was read', async () => {
    const { store, accept, startNext } = await openTestStore();
    const seen = await startNext(await accept('1'), 'r1');
    must(await store.transitions.recordRun(seen.session_id, 'r1', { progressMessageId: '77' }));
    const completed = must(await store.transitions.complete(seen.session_id, 'r1', 'the answer', { known: seen }));
    expect(completed.session).toMatchObject({ status: 'completed', request: { progress_message_id: '77' } });
    expect(await store.transitions.complete(seen.session_id, 'r1', 'again', { known: seen })).toBeNull();
  });

  // rule: a-run-without-its-lane-writes-nothing
  test('that lost its lane can neither renew nor answer', async () => {
    const { redis, store, accept, startNext } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    expect(await store.transitions.renewLease(active, LEASE_MS, 1)).toBe(true);
    await redis.set(store.keys.laneHolder(LANE), 'r2');
    expect(await store.transitions.renewLease(active, LEASE_MS, 1)).toBe(false);
    expect(await store.transitions.complete(active.session_id, 'r1', 'late')).toBeNull();
    expect(must(await store.records.session(active.session_id)).status).toBe('active');
  });

  // rule: a-run-without-its-lane-writes-nothing
  test('that was fenced off because its message is run again can write nothing at all', async () => {
    const { redis, store, accept, startNext } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    const incident = incidentFor(active);
    await store.incidents.open(active, incident, []);
    const proof = { run_id: 'r1', proven_at: 1, by: 'lease_over' } as const;
    await store.transitions.release(active.session_id, proof);
    const released = must(await store.records.session(active.session_id));
    const { revival } = must(await store.incidents.revive(released, incident, { endReason: 'run_lost', guard: [] }));
    await startNext(revival, 'r2');
    const everything = async () => {
      const found = (await redis.keys(store.keys.pattern)).sort();
      return Promise.all(found.map(async (key) => [key, await redis.dump(key)]));
    };
    const before = await everything();
    const { transitions } = store;
    expect(await transitions.renewLease(active, LEASE_MS, 1)).toBe(false);
    expect(await transitions.recordRun(active.session_id, 'r1', { conversationId: 'late' })).toBeNull();
    expect(await transitions.recordRun(active.session_id, 'r1', { progressMessageId: '9' })).toBeNull();
    expect(await transitions.complete(active.session_id, 'r1', 'late')).toBeNull();
    expect(await transitions.complete(active.session_id, 'r1', 'late', { isGone: false, known: active })).toBeNull();
    expect(await transitions.interrupt(active.session_id, 'r1', proof)).toBeNull();
    expect(await transitions.release(active.session_id, proof)).toBeNull();
    expect(await transitions.cancelReleased(active.session_id, 'r1', 'late')).toBeNull();
    expect(await store.incidents.open(active, { ...incident, incident_id: 'I2' }, [])).toBe(false);
    expect(await everything()).toEqual(before);
  });

  // rule: a-run-without-its-lane-writes-nothing
  test('that was released can no longer answer', async () => {
    const { store, accept, startNext, clock } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    await store.transitions.release(active.session_id, { run_id: 'r1', proven_at: clock.now(), by: 'scan' });
    expect(await store.transitions.complete(active.session_id, 'r1', 'late')).toBeNull();
  });

  test('is known by its lease, renewed or not', async () => {
    const { store, accept, startNext, clock } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    await clock.advance(LEASE_MS);
    expect(await store.records.leasesOverBefore(clock.now() + 1)).toEqual(new Map([[active.session_id, clock.now()]]));
    await store.transitions.renewLease(active, LEASE_MS, clock.now());
    expect(await store.records.leasesOverBefore(clock.now() + 1)).toEqual(new Map());
  });
});

describeWithRedis('cancelling', () => {
  test('a waiting session ends at once and leaves its lane', async () => {
    const { store, accept } = await openTestStore();
    await accept('1');
    const cancelled = must(await store.transitions.cancel('tg_popoto_-100_1', 'Cancelled.'));
    expect(cancelled.status).toBe('cancelled');
    expect(await store.records.waitingIn(LANE)).toEqual([]);
    expect(await store.records.outboxEntry('tg_popoto_-100_1')).toMatchObject({ kind: 'cancelled' });
    expect(await store.transitions.cancel('tg_popoto_-100_1', 'Cancelled.')).toBeNull();
  });

  test('a running session is asked to end, and cancelled once its run is proven dead', async () => {
    const { store, accept, startNext, clock } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    expect(must(await store.transitions.cancel(active.session_id, 'x')).stop).toMatchObject({
      cause: 'cancel',
      run_id: 'r1',
    });
    expect(await store.transitions.cancelReleased(active.session_id, 'r1', 'Cancelled.')).toBeNull();
    await store.transitions.release(active.session_id, { run_id: 'r1', proven_at: clock.now(), by: 'scan' });
    expect(must(await store.transitions.cancelReleased(active.session_id, 'r1', 'Cancelled.')).status).toBe(
      'cancelled',
    );
  });
});

describeWithRedis('a revival', () => {
  // rule: one-revival-per-message
  test('consumes the one claim, fails the session and waits at the head of its lane', async () => {
    const { store, accept, startNext } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    await accept('2');
    const incident = incidentFor(active);
    expect(await store.incidents.open(active, incident, [])).toBe(true);
    await store.transitions.release(active.session_id, { run_id: 'r1', proven_at: 1, by: 'scan' });
    const session = must(await store.records.session(active.session_id));
    const { revival } = must(
      await store.incidents.revive(session, incident, { endReason: 'silent_for_15_minutes', guard: [] }),
    );
    expect(revival).toMatchObject({
      session_id: 'tg_popoto_-100_1_r1',
      attempt: 2,
      status: 'pending',
      run: null,
      answer: null,
    });
    expect(await store.records.waitingIn(LANE)).toEqual(['tg_popoto_-100_1_r1', 'tg_popoto_-100_2']);
    expect(await store.records.session(active.session_id)).toMatchObject({
      status: 'failed',
      end_reason: 'silent_for_15_minutes',
      revived_by: 'tg_popoto_-100_1_r1',
    });
    expect(await store.records.sessionOfMessage('popoto', '-100', '1')).toBe('tg_popoto_-100_1_r1');
    expect(await store.records.claimOf(session)).toBe('I1');
  });

  test('is refused if the claim is already used, by anyone', async () => {
    const { redis, store, accept, startNext } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    await redis.hset(store.keys.message('popoto', '-100', '1'), 'claimed_by', 'another');
    const incident = incidentFor(active);
    await store.incidents.open(active, incident, []);
    await store.transitions.release(active.session_id, { run_id: 'r1', proven_at: 1, by: 'scan' });
    const session = must(await store.records.session(active.session_id));
    expect(await store.incidents.revive(session, incident, { endReason: 'x', guard: [] })).toBeNull();
    expect(must(await store.records.session(active.session_id)).status).toBe('active');
  });

  // rule: one-open-incident-per-session
  test('an open incident is the only one of its session', async () => {
    const { store, accept, startNext } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    const opened = await Promise.all(
      ['I1', 'I2'].map((id) => store.incidents.open(active, incidentFor(active, id), [])),
    );
    expect(opened.filter(Boolean)).toHaveLength(1);
    expect(await store.records.openIncidents()).toHaveLength(1);
  });
});

describeWithRedis('a lease by name', () => {
  test('has one holder, and a fencing number that grows with each', async () => {
    const { store, clock } = await openTestStore();
    const first = must(await store.leases.hold('watchdog', 'a', 1000));
    expect(await store.leases.hold('watchdog', 'b', 1000)).toBeNull();
    await clock.advance(1001);
    const second = must(await store.leases.hold('watchdog', 'b', 1000));
    expect(second.fence).toBe(first.fence + 1);
    expect(must(await store.leases.hold('watchdog', 'b', 1000)).fence).toBe(second.fence);
  });

  // rule: a-late-holder-is-fenced
  test('fences a holder that was paused and wakes up late', async () => {
    const { store, clock, accept, startNext } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    const late = must(await store.leases.hold('watchdog', 'a', 1000));
    await clock.advance(1001);
    const holder = must(await store.leases.hold('watchdog', 'b', 1000));
    expect(await store.incidents.open(active, incidentFor(active), store.leases.guard(late))).toBe(false);
    expect(await store.incidents.open(active, incidentFor(active), store.leases.guard(holder))).toBe(true);
  });

  // rule: a-late-holder-is-fenced
  test('keeps the offset of a bot from a process that no longer fetches its messages', async () => {
    const { store, clock } = await openTestStore();
    const late = must(await store.leases.hold('poller', 'a', 1000));
    await store.chatMemory.saveUpdateOffset('bot', 7, store.leases.guard(late));
    await clock.advance(1001);
    must(await store.leases.hold('poller', 'b', 1000));
    await expect(store.chatMemory.saveUpdateOffset('bot', 9, store.leases.guard(late))).rejects.toThrow(FencedError);
    expect(await store.records.updateOffset('bot')).toBe(7);
  });

  // rule: a-late-holder-is-fenced
  test('fences a holder whose number was given out again after a failover that forgot it', async () => {
    const { redis, store, accept, startNext } = await openTestStore();
    const active = await startNext(await accept('1'), 'r1');
    const forgotten = must(await store.leases.hold('watchdog', 'a', 1000));
    await redis.del(store.keys.lease('watchdog'));
    const holder = must(await store.leases.hold('watchdog', 'b', 1000));
    expect(holder.fence).toBe(forgotten.fence);
    expect(await store.incidents.open(active, incidentFor(active), store.leases.guard(forgotten))).toBe(false);
    expect(await store.incidents.open(active, incidentFor(active), store.leases.guard(holder))).toBe(true);
  });

  test('is free at once when it is released', async () => {
    const { store } = await openTestStore();
    await store.leases.giveBack(must(await store.leases.hold('watchdog', 'a', 1000)));
    expect(must(await store.leases.hold('watchdog', 'b', 1000)).fence).toBe(2);
  });
});

describeWithRedis('an unreadable record', () => {
  test('is its own error, and hides no other record', async () => {
    const { redis, store, accept } = await openTestStore();
    await accept('1');
    await accept('2');
    await redis.hset(store.keys.session('tg_popoto_-100_1'), 'created_at', 'yesterday');
    const [broken, whole] = await store.records.sessions(['tg_popoto_-100_1', 'tg_popoto_-100_2']);
    expect(broken).toBeInstanceOf(Error);
    expect(String(broken)).toContain('"created_at" is not a number');
    expect(whole).toMatchObject({ session_id: 'tg_popoto_-100_2' });
  });
});
