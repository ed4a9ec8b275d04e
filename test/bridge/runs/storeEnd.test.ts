import { expect, test } from '@jest/globals';
import { RecentEnds, reclaimEnd } from '../../../bridge/runs/forgotten.js';
import { LEASE_EXPIRED } from '../../../bridge/runs/runStopper.js';
import { type EndedRun, storeEnd } from '../../../bridge/runs/storeEnd.js';
import { CANCELLED_TEXT } from '../../../monitoring/incident/texts/chatTexts.js';
import type { Settings } from '../../../src/config/settings.js';
import { type AgentSession, type DeathProof, MOST_INTERRUPTIONS } from '../../../src/jobs/model.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import type { Store } from '../../../src/jobs/store.js';
import { DAY, MINUTE, SECOND } from '../../../src/time.js';
import { TEST_START } from '../../harness/clock.js';
import { describeWithRedis, forgetAll } from '../../harness/redis.js';
import { standIn } from '../../harness/standIn.js';
import {
  activeSession,
  incidentNow,
  LANE,
  LEASE_MS,
  must,
  openIncident,
  openSagaScene,
  runIdOf,
  type SagaScene,
  sessionNow,
  startRun,
} from '../../monitoring/incident/saga/sagaScene.js';
import { until } from '../../monitoring/watchdogScene.js';

const ANSWERED = { kind: 'answered', answer: 'the answer' } as const;
const STOPPED = { kind: 'stopped' } as const;
const CRASHED = { kind: 'failed', cause: 'crash', reason: 'run_failed_exit_1', detail: 'it exited with 1' } as const;

const SETTINGS = {
  logsFolder: '/nowhere',
  projects: new Map(),
  timings: { runLeaseMs: LEASE_MS },
} as unknown as Settings;
const nothingRuns = () => false;

function proofFor(scene: SagaScene, session: AgentSession): DeathProof {
  return { run_id: runIdOf(session), proven_at: scene.clock.now(), by: 'scan' };
}

function endOf(scene: SagaScene, session: AgentSession, changes: Partial<EndedRun>): EndedRun {
  return {
    sessionId: session.session_id,
    runId: runIdOf(session),
    known: null,
    end: ANSWERED,
    proof: proofFor(scene, session),
    stopCause: null,
    activity: { calls: 3, lastCallAt: scene.clock.now() },
    ...changes,
  };
}

/** Twice, because the answer to the first time may have been lost. */
async function store(scene: SagaScene, session: AgentSession, changes: Partial<EndedRun>, parts: Store = scene.store) {
  const context = { ...forgetfulContext(scene).context, store: parts };
  const ended = endOf(scene, session, changes);
  await storeEnd(context, ended);
  await storeEnd(context, ended);
  return sessionNow(scene, session);
}

describeWithRedis('the end of a run: an agent that answered', () => {
  test('completes the session, even if a person or an incident had asked for its end', async () => {
    for (const asked of ['nobody', 'a person', 'an incident'] as const) {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      if (asked === 'a person') await scene.store.transitions.cancel(session.session_id, 'x');
      if (asked === 'an incident') await openIncident(scene, session);
      const stopCause = asked === 'nobody' ? null : 'requested';
      const after = await store(scene, session, { stopCause });
      expect(after).toMatchObject({
        status: 'completed',
        answer: 'the answer',
        request: { delivery: 'queued' },
        stop: null,
      });
      expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ kind: 'answer' });
      expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: null });
    }
  });

  test('is stored again if forgotten: the next in its lane starts, even if the reply to that is lost', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const { store, clock, logger } = scene;
    const complete = async (...args: Parameters<Store['transitions']['complete']>) => {
      await store.transitions.complete(...args);
      throw new Error('Connection is closed.');
    };
    const losing: Store = {
      ...store,
      transitions: standIn(store.transitions, { complete }),
    };
    const started: string[] = [];
    const ends = new RecentEnds(
      {
        store: losing,
        clock,
        logger,
        settings: SETTINGS,
        lanes: { startNext: async (lane: string) => void started.push(lane) },
        forgotten: { note: () => undefined, noteLost: async () => undefined },
      },
      nothingRuns,
    );
    ends.note(endOf(scene, session, { known: session }), must(session.run));
    await expect(ends.storeAgain()).rejects.toThrow('Connection is closed.');
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'completed' });
    expect(started).toEqual([LANE]);
  });

  test('is stored again if everything was forgotten, as an answer that may be in the chat', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const ended = endOf(scene, session, { known: session });
    const { context, forgotten } = forgetfulContext(scene);
    await storeEnd(context, ended);
    const ends = new RecentEnds(context, nothingRuns);
    ends.note(ended, must(session.run));
    await forgetAll(scene.store);
    await ends.storeAgain();
    await ends.storeAgain();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'completed', answer: 'the answer' });
    expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({
      kind: 'answer',
      state: 'sending',
    });
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: null });
    expect(forgotten).toEqual([session.session_id]);
  });

  test('too late, after the run was released, leaves its session to the incident', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    await openIncident(scene, session);
    await scene.store.transitions.release(session.session_id, proofFor(scene, session));
    expect(await store(scene, session, {})).toMatchObject({ status: 'active', answer: null });
  });
});

/** How the store may stand there again after a cancellation that it has forgotten. */
const ROLLED_BACK: Record<string, (scene: SagaScene, session: AgentSession) => Promise<unknown>> = {
  'its run': () => Promise.resolve(),
  'its request': ({ store }, { session_id }) => store.transitions.cancel(session_id, CANCELLED_TEXT),
  'its waiting': (scene, session) =>
    scene.store.transitions.interrupt(session.session_id, runIdOf(session), proofFor(scene, session)),
  'before its acceptance': ({ store }) => forgetAll(store),
};

describeWithRedis('the end of a run whose session the store has forgotten', () => {
  const cases = [
    ['an answer goes to the chat', { end: ANSWERED }, { status: 'completed', answer: 'the answer' }],
    ['a failure becomes an incident', { end: CRASHED }, { status: 'active', released: { by: 'scan' } }],
    ['a shutdown puts it back', { end: STOPPED, stopCause: 'shutdown' }, { status: 'pending', interruptions: 1 }],
    ['an unexplained stop is reported as a failure', { end: STOPPED, stopCause: 'requested' }, { status: 'failed' }],
  ] as const;
  for (const [what, changes, expected] of cases) {
    test(what, async () => {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      await forgetAll(scene.store);
      const { context, forgotten } = forgetfulContext(scene);
      const ended = endOf(scene, session, changes);
      await reclaimEnd(context, session, ended, must(session.run));
      await storeEnd(context, ended);
      expect(await sessionNow(scene, session)).toMatchObject(expected);
      expect(forgotten).toEqual([session.session_id]);
      const entry = await scene.store.records.outboxEntry(session.session_id);
      if (expected.status === 'completed' || expected.status === 'failed') expect(entry?.state).toBe('queued');
      if (what.startsWith('a failure')) expect(await scene.store.records.openIncidents()).toHaveLength(1);
    });
  }

  // rule: a-message-has-one-end-after-a-failover
  test('an answer goes to the chat even if its lane belongs to another run by then', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    await forgetAll(scene.store);
    const next = await activeSession(scene, '2');
    const { context } = forgetfulContext(scene);
    const ended = endOf(scene, session, { stopCause: 'lease_lost' });
    await reclaimEnd(context, session, ended, must(session.run));
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'completed', answer: 'the answer' });
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: runIdOf(next) });
  });

  test('a failure that is followed by a second attempt is not reported', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const { context } = forgetfulContext(scene);
    const isUnderWay = (id: string) => id === `${session.session_id}_r1`;
    const ends = new RecentEnds(context, isUnderWay);
    ends.note(endOf(scene, session, { known: session, end: CRASHED }), must(session.run));
    await forgetAll(scene.store);
    await ends.storeAgain();
    expect(await scene.store.records.session(session.session_id)).toBeNull();
  });

  // rule: a-message-has-one-end-after-a-failover
  test('a failure before a second attempt accuses nobody in a store that was rolled back to before it', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const { context, forgotten } = forgetfulContext(scene);
    const ends = new RecentEnds(context, nothingRuns);
    const second = revivalOf(session, scene.clock.now());
    const run = { ...must(session.run), run_id: runIdOf(second) };
    ends.note(endOf(scene, session, { known: session, end: CRASHED }), must(session.run));
    ends.note(endOf(scene, second, { known: second }), run);
    await ends.storeAgain();
    await ends.storeAgain();
    expect(await scene.store.records.openIncidents()).toEqual([]);
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'failed', revived_by: second.session_id });
    expect(await sessionNow(scene, second)).toMatchObject({ status: 'completed', answer: 'the answer' });
    expect(await scene.store.records.outboxEntry(session.session_id)).toBeNull();
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: null });
    expect(forgotten).toEqual([second.session_id]);
  });

  test('an answer of a second attempt is not sent if the first was reported as failed; that is logged', async () => {
    const scene = await openSagaScene();
    const first = await activeSession(scene);
    const { context, forgotten } = forgetfulContext(scene);
    const second = revivalOf(first, scene.clock.now());
    const incident = await openIncident(scene, first);
    await scene.store.incidents.fail(await sessionNow(scene, first), incident, {
      endReason: 'silent',
      text: 'it failed',
      patch: {},
      guard: [],
    });
    const ended = endOf(scene, second, { known: second });
    await reclaimEnd(context, second, ended, { ...must(first.run), run_id: runIdOf(second) });
    await storeEnd(context, ended);
    expect(await scene.store.records.session(second.session_id)).toBeNull();
    expect(await scene.store.records.outboxEntry(second.session_id)).toBeNull();
    expect(await scene.store.records.outboxEntry(first.session_id)).toMatchObject({ kind: 'failure' });
    expect(scene.logged.join('')).toContain('its message has another end');
    expect(forgotten).toEqual([]);
  });

  // rule: a-cancellation-is-kept
  test('costs one query per end, however many runs ask at once', async () => {
    const scene = await openSagaScene();
    const { ends, questions } = await keptEnds(scene, 5);
    const askAll = () => Promise.all(Array.from({ length: 20 }, () => ends.storeAgain()));
    await askAll();
    expect(questions).toHaveLength(5);
    const underWay = ends.storeAgain();
    await until(() => questions.length > 5);
    await askAll();
    await underWay;
    expect(questions).toHaveLength(15);
  });

  test('that is forgotten while others are stored again is stored again, too, for later callers', async () => {
    const scene = await openSagaScene();
    let asked: Promise<void> | null = null;
    const { ends, sessions } = await keptEnds(scene, 3, async (sessionId) => {
      if (asked !== null || sessionId !== sessions[1]?.session_id) return;
      await forgetAll(scene.store);
      asked = ends.storeAgain();
    });
    await ends.storeAgain();
    await asked;
    for (const session of sessions) expect(await sessionNow(scene, session)).toMatchObject({ status: 'completed' });
  });

  for (const [rolledBack, wind] of Object.entries(ROLLED_BACK)) {
    // rule: a-cancellation-is-kept
    test(`that a person cancelled stays cancelled in a store that was rolled back to ${rolledBack}`, async () => {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      const { context, forgotten } = forgetfulContext(scene);
      const started: string[] = [];
      const lanes = { startNext: async (lane: string) => void started.push(lane) };
      const ends = new RecentEnds({ ...context, lanes }, nothingRuns);
      const isForgotten = rolledBack === 'before its acceptance';
      const ended = endOf(scene, session, { known: session, end: STOPPED, stopCause: 'requested' });
      ends.note(ended, must(session.run), true);
      await wind(scene, session);
      for (const _ of ['once', 'and again']) await ends.storeAgain();
      const after = await sessionNow(scene, session);
      expect(after).toMatchObject({ status: 'cancelled', end_reason: 'cancelled_by_person' });
      const entry = await scene.store.records.outboxEntry(session.session_id);
      expect(entry).toMatchObject({
        kind: 'cancelled',
        text: CANCELLED_TEXT,
        state: isForgotten ? 'sending' : 'queued',
      });
      expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: null });
      expect(await scene.store.records.waitingIn(LANE)).toEqual([]);
      expect(forgotten).toEqual(isForgotten ? [session.session_id] : []);
      expect(started).toEqual(isForgotten ? [] : [LANE]);
    });
  }

  test('that never began because a person cancelled it while it waited is cancelled again', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const proof = proofFor(scene, session);
    const waiting = must(await scene.store.transitions.interrupt(session.session_id, runIdOf(session), proof));
    const { context } = forgetfulContext(scene);
    const ends = new RecentEnds(context, nothingRuns);
    ends.noteWithdrawn({ ...waiting, status: 'cancelled', end_reason: 'cancelled_by_person' });
    await ends.storeAgain();
    await ends.storeAgain();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'cancelled' });
    expect(await scene.store.records.waitingIn(LANE)).toEqual([]);
  });

  test('that a person cancelled and that became an orphan meanwhile is ended by that incident', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const { context } = forgetfulContext(scene);
    const ends = new RecentEnds(context, nothingRuns);
    ends.note(endOf(scene, session, { known: session, end: STOPPED, stopCause: 'requested' }), must(session.run), true);
    await openIncident(scene, session);
    await ends.storeAgain();
    expect(await sessionNow(scene, session)).toMatchObject({
      status: 'active',
      stop: { cause: 'cancel' },
      released: { by: 'scan' },
    });
  });

  // rule: a-message-has-one-end-after-a-failover
  test('whose lane an ended run holds in a rolled-back store is stored after that end; nobody is notified', async () => {
    const scene = await openSagaScene();
    const former = await activeSession(scene);
    const { context } = forgetfulContext(scene);
    const ends = new RecentEnds(context, nothingRuns);
    ends.note(endOf(scene, former, { known: former }), must(former.run));
    const { store: parts, clock } = scene;
    const lost = { ...former, session_id: `${former.session_id}1`, message_id: '11' };
    const run = { ...must(former.run), run_id: runIdOf(lost), started_at: clock.now() };
    const ended = endOf(scene, lost, { end: STOPPED, stopCause: 'shutdown' });
    await ends.storeAgainBefore(lost, run);
    await reclaimEnd(context, lost, ended, run);
    await storeEnd(context, ended);
    expect(await sessionNow(scene, former)).toMatchObject({ status: 'completed' });
    expect(await sessionNow(scene, lost)).toMatchObject({ status: 'pending', interruptions: 1 });
    expect(await parts.records.outboxEntry(lost.session_id)).toBeNull();
  });
});

/** @param onQuestion what happens before the store says whether it has forgotten a session */
async function keptEnds(
  scene: SagaScene,
  count: number,
  onQuestion: (sessionId: string) => Promise<void> = () => Promise.resolve(),
) {
  const { context } = forgetfulContext(scene);
  const { regain } = scene.store;
  const isMissing = regain.isMissing.bind(regain);
  const questions: string[] = [];
  regain.isMissing = async (sessionId) => {
    questions.push(sessionId);
    await onQuestion(sessionId);
    return isMissing(sessionId);
  };
  const ends = new RecentEnds(context, nothingRuns);
  const sessions: AgentSession[] = [];
  for (let number = 1; number <= count; number += 1) {
    const session = await activeSession(scene, String(number));
    const ended = endOf(scene, session, { known: session });
    await storeEnd(context, ended);
    ends.note(ended, must(session.run));
    sessions.push(session);
  }
  return { ends, questions, sessions };
}

function forgetfulContext({ store, clock, logger }: SagaScene) {
  const forgotten: string[] = [];
  const context = {
    store,
    clock,
    logger,
    settings: SETTINGS,
    lanes: { startNext: async () => undefined },
    forgotten: {
      note: (sessionId: string) => void forgotten.push(sessionId),
      async noteLost(sessionId: string) {
        // Its chat can hear of it only afterwards, however long this takes.
        for (let questions = 0; questions < 10; questions += 1) {
          if ((await store.records.outboxEntry(sessionId)) !== null) return;
        }
        forgotten.push(sessionId);
      },
    },
  };
  return { context, forgotten };
}

describeWithRedis('the end of a run: an agent that failed', () => {
  test('opens a crash incident at once and releases the run; the lane stays held', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const after = await store(scene, session, { end: CRASHED });
    expect(after).toMatchObject({ status: 'active', released: { by: 'scan' } });
    const [incident, ...others] = await scene.store.records.openIncidents();
    expect(others).toEqual([]);
    expect(incident).toMatchObject({
      rule: 'crash',
      acting: true,
      attempt: 1,
      tool_count: 3,
      not_revived_because: null,
    });
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: runIdOf(session) });
  });

  // rule: evidence-is-in-our-words
  test('keeps the output of the agent out of the evidence: it is an excerpt', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    await store(scene, session, { end: { ...CRASHED, detail: 'its last words: do as I say' } });
    const [incident] = await scene.store.records.openIncidents();
    expect(incident?.untrusted_excerpt).toBe('its last words: do as I say');
    expect(JSON.stringify(incident?.findings)).not.toContain('do as I say');
    expect(scene.logged.join('')).not.toContain('do as I say');
    expect(scene.logged.filter((line) => line.includes('"rule":"crash"'))).toHaveLength(1);
  });

  test('gives the reason if a second attempt would fail again', async () => {
    for (const cause of ['authentication', 'credit', 'rate_limit', 'context_overflow'] as const) {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      await store(scene, session, { end: { ...CRASHED, cause } });
      const [incident] = await scene.store.records.openIncidents();
      expect(incident?.not_revived_because).toEqual(expect.any(String));
    }
  });

  test('does not advise a new conversation for a first message that is too long by itself', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    await store(scene, session, { end: { ...CRASHED, cause: 'context_overflow' } });
    const [incident] = await scene.store.records.openIncidents();
    expect(incident?.not_revived_because).toBe('the message does not fit the model; ask for less at once');
  });

  test('is never mistaken for a cancellation, whatever else changes the record at the same instant', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    let isFirst = true;
    // The progress message arrives just between the reading and the opening.
    const records = standIn(scene.store.records, {
      session: async (id) => {
        const found = await scene.store.records.session(id);
        if (isFirst) await scene.store.transitions.recordRun(id, runIdOf(session), { progressMessageId: '9' });
        isFirst = false;
        return found;
      },
    });
    const after = await store(scene, session, { end: CRASHED }, { ...scene.store, records });
    expect(after.status).toBe('active');
    expect(await scene.store.records.openIncidents()).toHaveLength(1);
    expect(await scene.store.records.outboxEntry(session.session_id)).toBeNull();
  });

  test('joins an incident that only reports, and makes it act', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session, { reportOnly: true });
    const after = await store(scene, session, { end: { ...CRASHED, cause: 'credit' } });
    expect(after).toMatchObject({ status: 'active', incident_id: incident.incident_id });
    const joined = await incidentNow(scene, incident);
    expect(joined).toMatchObject({ acting: true, not_revived_because: expect.stringContaining('credit') });
    expect(joined.findings.map(({ rule }) => rule)).toEqual(['silence', 'crash']);
    expect(await scene.store.records.openIncidents()).toHaveLength(1);
  });

  test('is not released if its processes cannot be ended', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    expect(await store(scene, session, { end: CRASHED, proof: null })).toMatchObject({ released: null });
    expect(await scene.store.records.openIncidents()).toHaveLength(1);
  });
});

describeWithRedis('the end of a run: its end was requested', () => {
  test('by a person: the session is cancelled, the chat is notified, and nobody is accused', async () => {
    for (const end of [STOPPED, CRASHED]) {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      await scene.store.transitions.cancel(session.session_id, 'x');
      const after = await store(scene, session, { end, stopCause: 'requested' });
      expect(after).toMatchObject({ status: 'cancelled', end_reason: 'cancelled_by_person' });
      expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ kind: 'cancelled' });
      expect(await scene.store.records.openIncidents()).toEqual([]);
      const { context } = forgetfulContext(scene);
      expect(await storeEnd(context, endOf(scene, session, { end, stopCause: 'requested' }))).toBe(true);
    }
  });

  test('by an incident: the run is released, and the incident continues from there', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await scene.store.incidents.requestStop(await sessionNow(scene, session), incident, []);
    const after = await store(scene, session, { end: STOPPED, stopCause: 'requested' });
    expect(after).toMatchObject({ status: 'active', released: { by: 'scan' }, incident_id: incident.incident_id });
  });

  // rule: a-report-changes-no-end
  test('by a person while an incident only reports: the session is cancelled at once', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session, { reportOnly: true });
    await scene.store.transitions.cancel(session.session_id, 'x');
    const after = await store(scene, session, { end: STOPPED, stopCause: 'requested' });
    expect(after).toMatchObject({ status: 'cancelled', incident_id: null });
    expect(await incidentNow(scene, incident)).toMatchObject({ outcome: 'cancelled_by_person', acting: false });
  });

  test('by an incident and a person: the incident ends it', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    await openIncident(scene, session);
    await scene.store.transitions.cancel(session.session_id, 'x');
    const after = await store(scene, session, { end: STOPPED, stopCause: 'requested' });
    expect(after).toMatchObject({ status: 'active', stop: { cause: 'cancel' }, released: { by: 'scan' } });
  });

  test('by the loss of its lane: nothing is stored', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    for (const end of [ANSWERED, STOPPED, CRASHED]) {
      expect(await store(scene, session, { end, stopCause: 'lease_lost' })).toEqual(session);
    }
  });
});

describeWithRedis('the end of a run: the bridge itself ended it', () => {
  test('the session goes back to the head of its lane, three times; then it is a crash', async () => {
    const scene = await openSagaScene();
    let session = await activeSession(scene);
    for (let count = 1; count <= MOST_INTERRUPTIONS; count += 1) {
      const after = await store(scene, session, { end: STOPPED, stopCause: 'shutdown' });
      expect(after).toMatchObject({ status: 'pending', interruptions: count, run: null });
      expect(await scene.store.records.waitingIn(LANE)).toEqual([session.session_id]);
      session = await startRun(scene, after);
    }
    expect(await store(scene, session, { end: STOPPED, stopCause: 'shutdown' })).toMatchObject({ status: 'active' });
    const [incident] = await scene.store.records.openIncidents();
    expect(must(incident).findings[0]?.reason).toBe('run_interrupted_too_often');
  });

  // rule: a-report-changes-no-end
  test('and an incident only reports: put back as without one, and no crash joins', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session, { reportOnly: true });
    const after = await store(scene, session, { end: STOPPED, stopCause: 'shutdown' });
    expect(after).toMatchObject({ status: 'pending', attempt: 1, interruptions: 1, incident_id: null });
    expect(await incidentNow(scene, incident)).toMatchObject({
      outcome: 'put_back',
      acting: false,
      findings: incident.findings,
    });
  });

  test('and an incident acts: only the release, because nothing was interrupted too often', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    const after = await store(scene, session, { end: STOPPED, stopCause: 'shutdown' });
    expect(after).toMatchObject({ status: 'active', released: { by: 'scan' }, incident_id: incident.incident_id });
    expect(await incidentNow(scene, incident)).toEqual(incident);
  });

  test('too often while an incident only reports: the crash joins it, and it acts', async () => {
    const scene = await openSagaScene();
    let session = await activeSession(scene);
    for (let count = 1; count <= MOST_INTERRUPTIONS; count += 1) {
      session = await startRun(scene, await store(scene, session, { end: STOPPED, stopCause: 'shutdown' }));
    }
    const incident = await openIncident(scene, session, { reportOnly: true });
    expect(await store(scene, session, { end: STOPPED, stopCause: 'shutdown' })).toMatchObject({ status: 'active' });
    const joined = await incidentNow(scene, incident);
    expect(joined).toMatchObject({ acting: true, untrusted_excerpt: 'it was interrupted 4 times' });
    expect(joined.findings.map(({ reason }) => reason)).toContain('run_interrupted_too_often');
  });

  test('and a person requested it, too: the session is cancelled, and not run again', async () => {
    for (const [end, stopCause] of [
      [STOPPED, 'shutdown'],
      [LEASE_EXPIRED, 'self_fenced'],
    ] as const) {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      await scene.store.transitions.cancel(session.session_id, 'x');
      expect(await store(scene, session, { end, stopCause })).toMatchObject({ status: 'cancelled' });
      expect(await scene.store.records.waitingIn(LANE)).toEqual([]);
      expect(await scene.store.records.openIncidents()).toEqual([]);
    }
  });

  for (const [why, changes] of [
    ['shut down', { end: STOPPED, stopCause: 'shutdown' }],
    ["its provider's limit was reached", { end: { ...CRASHED, cause: 'rate_limit', until: TEST_START + MINUTE } }],
  ] as const) {
    test(`and put it back (${why}), which a recovered store applies only once`, async () => {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      const ended = endOf(scene, session, { known: session, ...changes });
      const { context } = forgetfulContext(scene);
      await storeEnd(context, ended);
      const putBack = await sessionNow(scene, session);
      expect(putBack).toMatchObject({ status: 'pending', interruptions: 1, run: null });
      const ends = new RecentEnds(context, nothingRuns);
      ends.note(ended, must(session.run));
      await ends.storeAgain();
      expect(await sessionNow(scene, session)).toEqual(putBack);
      // Its next run is no end of the one before.
      await startRun(scene, putBack);
      await ends.storeAgain();
      expect(await sessionNow(scene, session)).toMatchObject({ status: 'active', interruptions: 1 });
    });
  }

  test('a rate limit that ends within a day is waited for; a longer one is reported', async () => {
    for (const [untilMs, status] of [
      [DAY, 'pending'],
      [DAY + SECOND, 'active'],
    ] as const) {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      const end = { ...CRASHED, cause: 'rate_limit', until: scene.clock.now() + untilMs } as const;
      expect(await store(scene, session, { end })).toMatchObject({ status });
      expect(await scene.store.records.openIncidents()).toHaveLength(status === 'active' ? 1 : 0);
    }
  });

  // rule: a-report-changes-no-end
  test('a rate limit is waited for even if an incident reports the run, but not if it acts', async () => {
    for (const reportOnly of [true, false]) {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      const incident = await openIncident(scene, session, { reportOnly });
      const until = scene.clock.now() + MINUTE;
      const after = await store(scene, session, { end: { ...CRASHED, cause: 'rate_limit', until } });
      const joined = await incidentNow(scene, incident);
      if (reportOnly) {
        expect(after).toMatchObject({ status: 'pending', attempt: 1, not_before: until, incident_id: null });
        expect(joined).toMatchObject({ outcome: 'put_back', acting: false, not_revived_because: null });
      } else {
        expect(after).toMatchObject({ status: 'active', incident_id: incident.incident_id });
        expect(joined.findings.map(({ rule }) => rule)).toEqual(['silence', 'crash']);
      }
    }
  });

  test('a rate limit is waited for even if the bridge is stopping, but not if a person cancelled', async () => {
    for (const [stopCause, status] of [
      ['shutdown', 'pending'],
      ['self_fenced', 'pending'],
      ['requested', 'cancelled'],
    ] as const) {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      if (stopCause === 'requested') await scene.store.transitions.cancel(session.session_id, 'x');
      const end = { ...CRASHED, cause: 'rate_limit', until: scene.clock.now() + MINUTE } as const;
      expect(await store(scene, session, { end, stopCause })).toMatchObject({ status });
      expect(await scene.store.records.openIncidents()).toEqual([]);
    }
  });

  test('a session whose lane belongs to another run is left alone', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    await scene.store.redis.set(scene.store.keys.laneHolder(LANE), 'another');
    const after = await store(scene, session, { end: STOPPED, stopCause: 'shutdown' });
    expect(after).toMatchObject({ status: 'active', interruptions: 0 });
    expect(await scene.store.records.openIncidents()).toEqual([]);
  });
});

describeWithRedis('a released run', () => {
  test('is not cancelled if nobody requested it', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    await scene.store.transitions.release(session.session_id, proofFor(scene, session));
    expect(await scene.store.transitions.cancelReleased(session.session_id, runIdOf(session), 'x')).toBeNull();
    expect((await sessionNow(scene, session)).status).toBe('active');
  });
});
