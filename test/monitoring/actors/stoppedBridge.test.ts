/** What a bridge ran that was killed while it stopped, as the acting watchdog finds it: nothing has failed, so nothing is told. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { StopMark } from '../../../bridge/runs/stopMark.js';
import { CANCELLED_TEXT } from '../../../monitoring/incident/texts/chatTexts.js';
import { type DiskContext, endOnDisk } from '../../../monitoring/rounds/answeredLocally.js';
import type { ProcessIdentity } from '../../../src/host/identity.js';
import type { AgentSession, DeathProof } from '../../../src/jobs/model.js';
import { markUnsent } from '../../../src/journal/unsent.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis } from '../../harness/redis.js';
import { incidentNow, LEASE_MS, must, openIncident, runIdOf, sessionNow } from '../incident/saga/sagaScene.js';
import {
  BEGINNING,
  deadProcess,
  journalOf,
  openWatchdogScene,
  runOf,
  SILENCE_MS,
  type WatchdogOptions,
} from '../watchdogScene.js';

// covers: bridge/runs/predecessors.ts
// covers: bridge/runs/stopMark.ts
// covers: monitoring/rounds/answeredLocally.ts
// covers: src/journal/unsent.ts

/** @returns a scene whose mark names the dead owner of a run, and what the watchdog's next look proves of that run */
async function openStopped(actions: WatchdogOptions['actions'] = { silence: 'off' }) {
  let proof: DeathProof | null = null;
  let mark: StopMark | null = null;
  let disk: DiskContext | null = null;
  const scene = await openWatchdogScene({
    actions,
    saga: {
      proveDead: async () => proof,
      wasStopping: (session) => must(mark).wasStopping(session),
      endOnDisk: (session) => endOnDisk(must(disk), session),
    },
  });
  const { store, folder: logsFolder, logger } = scene;
  disk = { records: store.records, logsFolder, bootId: BOOT, logger, endInChat: async () => null };
  const owner = deadProcess();
  const markOf = (process: ProcessIdentity) => new StopMark(scene.folder, process, scene.logger);
  mark = markOf(owner);
  await mark.set();
  const session = await runOf(scene, '1', owner, LEASE_MS);
  const prove = () => {
    proof = { run_id: runIdOf(session), proven_at: scene.clock.now(), by: 'scan' };
  };
  await scene.watchdogLease.start();
  const look = async () => {
    await scene.watchdog.checkAllSessions();
    await scene.sagaOfIt.settle();
  };
  const whatIsTold = async () => ({
    incidents: (await scene.store.records.openIncidents()).length,
    hasEvents: existsSync(join(scene.folder, 'critical_events.jsonl')),
    hasIssues: existsSync(join(scene.folder, 'issues')),
    said: scene.said,
  });
  return { scene, session, prove, look, whatIsTold, markOf };
}

const BOOT = 'this boot';
const NOTHING = { incidents: 0, hasEvents: false, hasIssues: false, said: [] };

describeWithRedis('a run whose bridge was killed while it stopped', () => {
  // rule: a-cut-down-stop-uses-no-attempt
  test('waits again as soon as its end is proven; nothing is reported, not even before that', async () => {
    const { scene, session, prove, look, whatIsTold } = await openStopped();
    await look();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'active', incident_id: null });
    expect(await whatIsTold()).toEqual(NOTHING);
    prove();
    await look();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'pending', attempt: 1, interruptions: 1 });
    expect(await whatIsTold()).toEqual(NOTHING);
  });

  // rule: a-cut-down-stop-uses-no-attempt
  test('and had answered ends with that answer, sent as usual, as soon as its end is proven; nothing is reported', async () => {
    const { scene, session, prove, look, whatIsTold } = await openStopped();
    await scene.clock.advance(1_000);
    const journal = journalOf(scene, session);
    markUnsent(scene.folder, session.session_id, BOOT);
    journal.append({ event: 'session_end', reason: 'answered', answer: 'forty-two' });
    await look();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'active', incident_id: null });
    prove();
    await look();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'completed', answer: 'forty-two' });
    expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ state: 'queued' });
    expect((await scene.store.records.lane(session.lane)).holder).toBeNull();
    expect(await whatIsTold()).toEqual(NOTHING);
  });

  test('and was to be cancelled is cancelled as soon as its end is proven; nothing else is reported', async () => {
    const { scene, session, prove, look, whatIsTold } = await openStopped();
    await scene.store.transitions.cancel(session.session_id, CANCELLED_TEXT);
    prove();
    await look();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'cancelled', incident_id: null });
    expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ kind: 'cancelled' });
    expect(await whatIsTold()).toEqual(NOTHING);
  });

  // rule: a-report-changes-no-end
  test('waits again in the same attempt also if an incident only reported it, whether its rule is still true or not', async () => {
    for (const isTrue of [true, false]) {
      const { scene, session, prove, look } = await openStopped(isTrue ? { silence: 'report' } : { silence: 'off' });
      if (isTrue) await scene.clock.advance(SILENCE_MS + 1);
      // Its bridge renewed the lease until it died.
      await scene.store.transitions.renewLease(session, LEASE_MS, scene.clock.now() - SILENCE_MS - 1);
      const incident = await openIncident(scene, session, { reportOnly: true });
      await look();
      expect(await sessionNow(scene, session)).toMatchObject({ status: 'active', incident_id: incident.incident_id });
      prove();
      await look();
      expect(await sessionNow(scene, session)).toMatchObject({ status: 'pending', attempt: 1, interruptions: 1 });
      await look();
      expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'put_back', acting: false });
      expect(scene.said).toEqual([]);
    }
  });

  test('is lost like any other if its end is not proven within its lease', async () => {
    const { scene, session, look } = await openStopped();
    await scene.clock.advance(LEASE_MS + 1);
    await look();
    expect((await sessionNow(scene, session)).incident_id).not.toBeNull();
  });

  // rule: a-cut-down-stop-uses-no-attempt
  test('had already failed if its second attempt has begun, which the store has forgotten', async () => {
    const { scene, session, prove, look } = await openStopped();
    await scene.clock.advance(1_000);
    for (const line of BEGINNING) journalOf(scene, { ...session, session_id: `${session.session_id}_r1` }).append(line);
    prove();
    await look();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'failed', interruptions: 0 });
  });
});

describeWithRedis('the mark of a stop', () => {
  // rule: a-cut-down-stop-uses-no-attempt
  test('stays as long as a run of the marked bridge is active, so that no standby misses it', async () => {
    const { scene, session, markOf } = await openStopped();
    const successor = markOf(deadProcess());
    const clear = async () => {
      const { records } = scene.store;
      await successor.clearUnlessNeeded(await records.sessions(await records.sessionIds('active')));
    };
    await clear();
    expect(await successor.wasStopping(session)).toBe(true);
    await scene.store.transitions.interrupt(session.session_id, runIdOf(session), {
      run_id: runIdOf(session),
      proven_at: scene.clock.now(),
      by: 'scan',
    });
    await clear();
    expect(await successor.wasStopping(session)).toBe(false);
  });

  test('applies only to its own process, and is ignored if it cannot be read', async () => {
    const { scene, session, markOf } = await openStopped();
    const mark = markOf(must(session.run).owner);
    const another: AgentSession = { ...session, run: { ...must(session.run), owner: deadProcess() } };
    expect(await mark.wasStopping(another)).toBe(false);
    expect(await new StopMark(testFolder(), must(session.run).owner, scene.logger).wasStopping(session)).toBe(false);
  });
});
