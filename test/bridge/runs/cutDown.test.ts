import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { wasCutDown } from '../../../bridge/runs/cutDown.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import type { JournalEvent } from '../../../src/journal/schema.js';
import { JournalWriter } from '../../../src/journal/writer.js';
import { describeWithRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';
import {
  acceptMessage,
  activeSession,
  findingOf,
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

const CALL: JournalEvent = { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'Read', tool_input: {} };
const ORPHAN = { findings: [findingOf('orphan', 'run_lost')] };

/** @returns what its journal says of a session, with what its run names as its logs folder */
function openJournal(scene: SagaScene) {
  const logsFolder = join(scene.folder, 'logs');
  const options = { logsFolder, clock: scene.clock, redact: (text: string) => text };
  const write = (sessionId: string, ...lines: JournalEvent[]) => {
    const journal = JournalWriter.open({ ...options, sessionId });
    afterThisTest(() => journal.close());
    journal.append({ event: 'session_start', source: 'startup' });
    for (const line of lines) journal.append(line);
  };
  const judged = (session: AgentSession): AgentSession => {
    return { ...session, run: session.run && { ...session.run, logs_id: 'LOGS' } };
  };
  const isCutDown = (session: AgentSession) => wasCutDown(logsFolder, 'LOGS', judged(session));
  return { write, isCutDown, logsFolder, judged };
}

describeWithRedis('a lost run whose agent had made no call', () => {
  // rule: a-run-cut-down-early-is-put-back
  test('waits again at the head of its lane, three times; then it is revived', async () => {
    const scene = await openSagaScene();
    const { write, isCutDown } = openJournal(scene);
    const saga = scene.saga({ wasCutDown: isCutDown });
    let session = await activeSession(scene);
    const next = await acceptMessage(scene, '2');
    write(session.session_id);
    for (const interruptions of [1, 2, 3]) {
      const incident = await openIncident(scene, session, ORPHAN);
      await settle(saga, incident.incident_id);
      await releaseRun(scene, session);
      await settle(saga, incident.incident_id);
      expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'put_back' });
      const waiting = await sessionNow(scene, session);
      expect(waiting).toMatchObject({ status: 'pending', attempt: 1, interruptions, run: null, released: null });
      expect(waiting.incident_id).toBeNull();
      expect(await scene.store.records.waitingIn(LANE)).toEqual([session.session_id, next.session_id]);
      session = await startRun(scene, waiting);
    }
    const last = await openIncident(scene, session, ORPHAN);
    await settle(saga, last.incident_id);
    await releaseRun(scene, session);
    await settle(saga, last.incident_id);
    expect(await incidentNow(scene, last)).toMatchObject({ step: 'revived' });
  });

  test('is revived if another rule is true of it too, or if it must not run again after the loss of its host', async () => {
    for (const refusal of ['rule', 'host'] as const) {
      const scene = await openSagaScene();
      const keptBack = () => (refusal === 'host' ? 'the host was lost' : null);
      const saga = scene.saga({ wasCutDown: () => true, keptBack });
      const session = await activeSession(scene);
      const findings = refusal === 'rule' ? [...ORPHAN.findings, findingOf()] : ORPHAN.findings;
      const incident = await openIncident(scene, session, { findings });
      await settle(saga, incident.incident_id);
      await releaseRun(scene, session);
      await settle(saga, incident.incident_id);
      expect((await sessionNow(scene, session)).status).toBe('failed');
    }
  });

  test('differs from one that made a call in this run, and from one with an incomplete journal', async () => {
    const scene = await openSagaScene();
    const { write, isCutDown, logsFolder, judged } = openJournal(scene);
    const session = await activeSession(scene);
    // Nothing was written: it was cut down before the first line.
    expect(isCutDown(session)).toBe(true);
    await scene.clock.advance(1_000);
    write(session.session_id, CALL);
    expect(isCutDown(session)).toBe(false);
    const run = must(session.run);
    const later = { ...session, run: { ...run, run_id: runIdOf(session), started_at: scene.clock.now() + 1 } };
    expect(isCutDown(later)).toBe(true);
    expect(isCutDown({ ...later, interruptions: 3 })).toBe(false);
    expect(isCutDown({ ...later, run: { ...later.run, journal_torn: true } })).toBe(false);
    expect(wasCutDown(logsFolder, 'OTHER', judged(later))).toBe(false);
  });

  // rule: a-run-cut-down-early-is-put-back
  test('differs from one whose second attempt has begun: a rolled-back store forgot that the first one failed', async () => {
    const scene = await openSagaScene();
    const { write, isCutDown } = openJournal(scene);
    write('tg_popoto_-100_1_r1', CALL);
    await scene.clock.advance(1_000);
    const session = await activeSession(scene);
    // Of an older message with the same number.
    expect(isCutDown(session)).toBe(true);
    write('tg_popoto_-100_1_r1');
    expect(isCutDown(session)).toBe(false);
  });
});
