/** A run is ended while an incident is open: who decides what follows. */
import { expect, test } from '@jest/globals';
import type { Incident } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { describeWithRedis } from '../../harness/redis.js';
import {
  type Accusation,
  activeSession,
  incidentNow,
  LANE,
  must,
  openIncident,
  openSagaScene,
  releaseRun,
  runIdOf,
  type SagaScene,
  sessionNow,
  settle,
  startRun,
} from '../../monitoring/incident/saga/sagaScene.js';

const TEXT = 'Cancelled at your request.';

/** @returns a run that a person cancelled and that is proven dead, with an open incident */
async function cancelledRun(scene: SagaScene, accusation: Accusation = { reportOnly: true }) {
  const session = await activeSession(scene);
  const incident = await openIncident(scene, session, accusation);
  await scene.store.transitions.cancel(session.session_id, TEXT);
  await releaseRun(scene, session);
  return { session, incident };
}

function cancelReleased({ store }: SagaScene, session: AgentSession) {
  return store.transitions.cancelReleased(session.session_id, runIdOf(session), TEXT);
}

/** Another process changes the incident just after it was read, once. */
function changeOnceRead({ store }: SagaScene, patch: (incident: Incident) => Partial<Incident>): void {
  const { records, incidents } = store;
  const read = records.incident.bind(records);
  records.incident = async (id) => {
    const found = must(await read(id));
    records.incident = read;
    await incidents.save(found, patch(found), []);
    return found;
  };
}

describeWithRedis('a cancelled run with an incident that only reports', () => {
  // rule: a-report-changes-no-end
  test('is cancelled at once by its own bridge, and the incident has that outcome', async () => {
    for (const isDetected of [false, true]) {
      const scene = await openSagaScene();
      const { session, incident } = await cancelledRun(scene);
      if (isDetected) await scene.store.incidents.save(incident, { step: 'detected' }, []);
      expect(await cancelReleased(scene, session)).toMatchObject({ status: 'cancelled', incident_id: null });
      expect(await sessionNow(scene, session)).toMatchObject({ status: 'cancelled', incident_id: null });
      expect(await incidentNow(scene, incident)).toMatchObject({ outcome: 'cancelled_by_person' });
      expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: null });
      expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ kind: 'cancelled' });
      expect(await cancelReleased(scene, session)).toBeNull();
    }
  });

  test('is cancelled although the report of the incident is stored at the same instant', async () => {
    const scene = await openSagaScene();
    const { session, incident } = await cancelledRun(scene);
    changeOnceRead(scene, ({ report }) => ({ report: { ...report, url: 'https://example.org/1' } }));
    expect(await cancelReleased(scene, session)).toMatchObject({ status: 'cancelled' });
    expect(await incidentNow(scene, incident)).toMatchObject({
      outcome: 'cancelled_by_person',
      report: { url: 'https://example.org/1' },
    });
  });

  test('is left to the incident if that begins to act at the same instant', async () => {
    const scene = await openSagaScene();
    const { session, incident } = await cancelledRun(scene);
    changeOnceRead(scene, () => ({ acting: true }));
    expect(await cancelReleased(scene, session)).toBeNull();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'active', incident_id: incident.incident_id });
    await settle(scene.saga(), incident.incident_id);
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'cancelled' });
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'cancelled_by_person' });
  });

  test('is cancelled while the incident still closes, which keeps its outcome', async () => {
    const scene = await openSagaScene();
    const { session, incident } = await cancelledRun(scene);
    changeOnceRead(scene, () => ({ step: 'detected', outcome: 'recovered' }));
    expect(await cancelReleased(scene, session)).toMatchObject({ status: 'cancelled', incident_id: null });
    expect(await incidentNow(scene, incident)).toMatchObject({ outcome: 'recovered' });
  });

  test('is cancelled if the record of the incident is gone, but not if it cannot be read', async () => {
    for (const [damage, status] of [
      ['DEL', 'cancelled'],
      ['HSET', 'active'],
    ] as const) {
      const scene = await openSagaScene();
      const { session, incident } = await cancelledRun(scene);
      const key = scene.store.keys.incident(incident.incident_id);
      await (damage === 'DEL' ? scene.store.redis.del(key) : scene.store.redis.hset(key, 'doc', '{'));
      await cancelReleased(scene, session);
      expect(await sessionNow(scene, session)).toMatchObject({ status });
    }
  });
});

function interrupt({ store, clock }: SagaScene, session: AgentSession) {
  const runId = runIdOf(session);
  const proof = { run_id: runId, proven_at: clock.now(), by: 'scan' } as const;
  return store.transitions.interrupt(session.session_id, runId, proof);
}

/** @returns a run of either attempt, with an open incident */
async function accusedRun(scene: SagaScene, attempt: 1 | 2, accusation: Accusation = { reportOnly: true }) {
  const first = await activeSession(scene);
  if (attempt === 1) return { session: first, incident: await openIncident(scene, first, accusation) };
  const failed = await openIncident(scene, first);
  const released = must(await releaseRun(scene, first));
  const revive = { endReason: 'run_lost', guard: [] };
  const { revival } = must(await scene.store.incidents.revive(released, failed, revive));
  const session = await startRun(scene, revival);
  return { session, incident: await openIncident(scene, session, accusation) };
}

describeWithRedis('an interrupted run with an incident that only reports', () => {
  for (const attempt of [1, 2] as const) {
    // rule: a-report-changes-no-end
    test(`(attempt ${attempt}) goes back to the head of its lane in the same attempt, and the incident says so`, async () => {
      const scene = await openSagaScene();
      const { session, incident } = await accusedRun(scene, attempt);
      const waiting = must(await interrupt(scene, session));
      expect(waiting).toMatchObject({ status: 'pending', attempt, interruptions: 1, incident_id: null });
      expect(await sessionNow(scene, session)).toEqual(waiting);
      expect(await incidentNow(scene, incident)).toMatchObject({ outcome: 'put_back', step: 'opened' });
      expect(await scene.store.records.waitingIn(LANE)).toEqual([session.session_id]);
      const again = await startRun(scene, waiting);
      await openIncident(scene, again, { reportOnly: true });
      await settle(scene.saga(), incident.incident_id);
      expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'put_back' });
      expect((await sessionNow(scene, session)).incident_id).not.toBeNull();
    });
  }

  test('goes back although the report of the incident is stored at the same instant', async () => {
    const scene = await openSagaScene();
    const { session, incident } = await accusedRun(scene, 1);
    changeOnceRead(scene, ({ report }) => ({ report: { ...report, url: 'https://example.org/1' } }));
    expect(await interrupt(scene, session)).toMatchObject({ status: 'pending' });
    expect(await incidentNow(scene, incident)).toMatchObject({
      outcome: 'put_back',
      report: { url: 'https://example.org/1' },
    });
  });

  test('is left to the incident if that begins to act at the same instant', async () => {
    const scene = await openSagaScene();
    const { session, incident } = await accusedRun(scene, 1);
    changeOnceRead(scene, () => ({ acting: true }));
    expect(await interrupt(scene, session)).toBeNull();
    expect(await sessionNow(scene, session)).toEqual({
      ...session,
      incident_id: incident.incident_id,
      rev: session.rev + 1,
    });
    expect(await incidentNow(scene, incident)).toMatchObject({ outcome: null });
  });

  test('ends with the answer that the store has forgotten, and so does the incident', async () => {
    const scene = await openSagaScene();
    const { session, incident } = await accusedRun(scene, 1);
    const end = { kind: 'answer', text: 'forty-two', mayBeInChat: true } as const;
    const ended = await scene.store.transitions.endForgotten(session.session_id, runIdOf(session), end);
    expect(ended?.session).toMatchObject({ status: 'completed', answer: 'forty-two', incident_id: null });
    expect(await incidentNow(scene, incident)).toMatchObject({ outcome: 'answered' });
  });
});

describeWithRedis('an interrupted run', () => {
  test("with an incident that acts is left to it; one whose lane is another run's is left alone", async () => {
    for (const isActing of [true, false]) {
      const scene = await openSagaScene();
      const { session, incident } = await accusedRun(scene, 1, { reportOnly: !isActing });
      if (!isActing) await scene.store.redis.set(scene.store.keys.laneHolder(LANE), 'another');
      expect(await interrupt(scene, session)).toBeNull();
      expect(await sessionNow(scene, session)).toMatchObject({ status: 'active', interruptions: 0 });
      expect(await incidentNow(scene, incident)).toEqual(incident);
    }
  });
});

describeWithRedis('a cancelled run with an incident that acts', () => {
  test('is left to the incident', async () => {
    const scene = await openSagaScene();
    const { session, incident } = await cancelledRun(scene, {});
    expect(await cancelReleased(scene, session)).toBeNull();
    expect(await incidentNow(scene, incident)).toEqual(incident);
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'active', incident_id: incident.incident_id });
  });
});
