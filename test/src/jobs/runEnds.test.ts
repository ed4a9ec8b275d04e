/** A person cancels a run, and an incident is open: who decides what follows. */
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

describeWithRedis('a cancelled run with an incident that acts', () => {
  test('is left to the incident', async () => {
    const scene = await openSagaScene();
    const { session, incident } = await cancelledRun(scene, {});
    expect(await cancelReleased(scene, session)).toBeNull();
    expect(await incidentNow(scene, incident)).toEqual(incident);
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'active', incident_id: incident.incident_id });
  });
});
