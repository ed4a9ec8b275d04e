import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type RunWitness, wasCutDown } from '../../../bridge/runs/cutDown.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { journalPath } from '../../../src/journal/path.js';
import type { JournalEvent } from '../../../src/journal/schema.js';
import { JournalWriter } from '../../../src/journal/writer.js';
import { HOUR, isoTime } from '../../../src/time.js';
import { describeWithRedis } from '../../harness/redis.js';
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
  type SagaScene,
  sessionNow,
  settle,
  startRun,
} from '../../monitoring/incident/saga/sagaScene.js';

const CALL: JournalEvent = { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'Read', tool_input: {} };
const ORPHAN = { findings: [findingOf('orphan', 'run_lost')] };
const BOOT = 'this-boot';

/** Journals of sessions, and what they prove. */
function openJournals(scene: SagaScene) {
  const logsFolder = join(scene.folder, 'logs');
  const options = { logsFolder, clock: scene.clock, redact: (text: string) => text };
  const append = (sessionId: string, ...lines: JournalEvent[]) => {
    const journal = JournalWriter.open({ ...options, sessionId });
    for (const line of lines) journal.append(line);
    journal.close();
  };
  const sinceBootMs = () => scene.clock.monotonic();
  /** What a bridge writes before it hears of the agent. */
  const start = (session: AgentSession) =>
    append(
      session.session_id,
      { event: 'run_start', run_id: must(session.run).run_id, boot_id: BOOT, since_boot_ms: sinceBootMs() },
      { event: 'session_start', source: 'startup' },
      { event: 'user_prompt', origin: 'human', text: 'work' },
    );
  const isCutDown = (session: AgentSession, changes: Partial<RunWitness> = {}) => {
    const witness = {
      logsFolder,
      logsId: 'LOGS',
      bootId: BOOT,
      sinceBootMs: sinceBootMs(),
      youngRunMs: 5_000,
      ...changes,
    };
    return wasCutDown(witness, { ...session, run: session.run && { ...session.run, logs_id: 'LOGS' } });
  };
  return { append, start, isCutDown, logsFolder };
}

describeWithRedis('a lost run of whose agent nothing was heard', () => {
  // rule: a-run-cut-down-early-is-put-back
  test('waits again at the head of its lane, three times; then it is revived', async () => {
    const scene = await openSagaScene();
    const { start, isCutDown } = openJournals(scene);
    const saga = scene.saga({ wasCutDown: isCutDown });
    let session = await activeSession(scene);
    const next = await acceptMessage(scene, '2');
    for (const interruptions of [1, 2, 3]) {
      start(session);
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

  // rule: a-lost-run-was-an-attempt-unless-proven-otherwise
  test.each<[string, (journals: ReturnType<typeof openJournals>, session: AgentSession) => void]>([
    ['made a call', ({ append }, { session_id }) => append(session_id, CALL)],
    ['printed anything', ({ append }, { session_id }) => append(session_id, { event: 'heartbeat', source: 'output' })],
    ['waited', ({ append }, { session_id }) => append(session_id, { event: 'wait_start', kind: 'rate_limit' })],
    ['deleted the journals', ({ logsFolder }) => rmSync(join(logsFolder, 'sessions'), { recursive: true })],
    [
      'left the journal of another run only',
      ({ start, logsFolder }, session) => {
        rmSync(dirname(journalPath(logsFolder, session.session_id)), { recursive: true });
        start({ ...session, run: session.run && { ...session.run, run_id: 'ANOTHER' } });
      },
    ],
  ])('was an attempt if its agent %s, whatever the clock says', async (_, happens) => {
    for (const hoursBack of [0, 1]) {
      const scene = await openSagaScene();
      const journals = openJournals(scene);
      const session = await activeSession(scene);
      journals.start(session);
      expect(journals.isCutDown(session)).toBe(true);
      scene.clock.moveWallClock(-hoursBack * HOUR);
      happens(journals, session);
      expect(journals.isCutDown(session)).toBe(false);
    }
  });

  // rule: a-lost-run-was-an-attempt-unless-proven-otherwise
  test('was an attempt if it was older than a few seconds, or nobody can say how old it was', async () => {
    const scene = await openSagaScene();
    const { start, isCutDown } = openJournals(scene);
    const session = await activeSession(scene);
    start(session);
    expect(isCutDown(session, { bootId: 'another' })).toBe(false);
    expect(isCutDown(session, { sinceBootMs: null })).toBe(false);
    expect(isCutDown(session, { bootId: '' })).toBe(false);
    await scene.clock.advance(4_999);
    expect(isCutDown(session)).toBe(true);
    await scene.clock.advance(1);
    expect(isCutDown(session)).toBe(false);
  });

  test('was an attempt if its journal cannot prove more', async () => {
    const scene = await openSagaScene();
    const { start, append, isCutDown } = openJournals(scene);
    const session = await activeSession(scene);
    const run = must(session.run);
    // What the agent of an earlier run said proves nothing of this one.
    append(session.session_id, CALL);
    start(session);
    expect(isCutDown(session)).toBe(true);
    expect(isCutDown({ ...session, interruptions: 3 })).toBe(false);
    expect(isCutDown({ ...session, run: { ...run, journal_torn: true } })).toBe(false);
    expect(isCutDown(session, { logsId: 'OTHER' })).toBe(false);
    expect(isCutDown(session, { logsId: null })).toBe(false);
  });

  // rule: a-run-cut-down-early-is-put-back
  test('differs from one whose second attempt has begun: a rolled-back store forgot that the first one failed', async () => {
    const scene = await openSagaScene();
    const { start, append, isCutDown } = openJournals(scene);
    append('tg_popoto_-100_1_r1', CALL);
    await scene.clock.advance(1_000);
    const session = await activeSession(scene);
    start(session);
    // Of an older message with the same number.
    expect(isCutDown(session)).toBe(true);
    append('tg_popoto_-100_1_r1', { event: 'session_start', source: 'startup' });
    expect(isCutDown(session)).toBe(false);
  });

  // rule: a-run-cut-down-early-is-put-back
  test('differs from one whose second attempt has begun on a clock that was set back meanwhile', async () => {
    const scene = await openSagaScene();
    const { start, append, isCutDown } = openJournals(scene);
    const session = await activeSession(scene);
    start(session);
    scene.clock.moveWallClock(-HOUR);
    const begun = { event: 'run_start', run_id: 'SECOND', boot_id: BOOT } as const;
    append('tg_popoto_-100_1_r1', { ...begun, accepted_at: isoTime(session.created_at - 1) });
    expect(isCutDown(session)).toBe(true);
    append('tg_popoto_-100_1_r1', { ...begun, accepted_at: isoTime(session.created_at) });
    expect(isCutDown(session)).toBe(false);
  });
});
