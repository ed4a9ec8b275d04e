import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { endPredecessorsRuns } from '../../../bridge/runs/predecessors.js';
import { proveRunDead, RunProofs } from '../../../bridge/runs/proof.js';
import type { Settings } from '../../../src/config/settings.js';
import { markedPids } from '../../../src/host/processes.js';
import type { AgentSession, DeathProof } from '../../../src/jobs/model.js';
import { MINUTE, SECOND, systemClock } from '../../../src/time.js';
import { killLeftovers, newRunId, startMarked } from '../../bridge/runs/processes.js';
import { describeWithRedis } from '../../harness/redis.js';
import {
  acceptMessage,
  eventLines,
  LANE,
  LEASE_MS,
  must,
  openIncident,
  type SagaScene,
  settle,
} from '../incident/saga/sagaScene.js';
import { atRest, HERE, openWatchdogScene, type WatchdogScene } from '../watchdogScene.js';

afterEach(killLeftovers);

/** A run of this host with a real process that outlives what is done to end it. */
async function runWithProcess(scene: SagaScene): Promise<{ session: AgentSession; pid: number; runId: string }> {
  const runId = newRunId();
  const { pid } = await startMarked(runId, 'echo ready; exec sleep 60');
  const run = { run_id: runId, owner: { ...HERE, pid_start: '1' }, pid, started_at: scene.clock.now() };
  const session = must(await scene.store.transitions.start(await acceptMessage(scene), run, LEASE_MS)).session;
  return { session, pid, runId };
}

async function lookAndSettle(scene: WatchdogScene): Promise<void> {
  await scene.watchdog.checkAllSessions();
  await atRest(scene);
}

const proofOf = async ({ run }: Pick<AgentSession, 'run'>): Promise<DeathProof | null> =>
  run === null ? null : proveRunDead(run, HERE, { clock: systemClock, logsFolder: '/nowhere' });

async function endProcess(pid: number, runId: string): Promise<void> {
  process.kill(pid, 'SIGKILL');
  while (markedPids(runId).length > 0) await pause(1);
}

const blockedEvents = (scene: SagaScene) =>
  eventLines(scene).filter(({ reason }) => reason === 'lane_blocked_by_unproven_run');

describeWithRedis('a run that cannot be proven dead', () => {
  // rule: an-unproven-run-blocks-its-lane
  test('blocks its lane, which is reported once; nothing starts there until its last process is gone', async () => {
    const scene = await openWatchdogScene({ saga: { proveDead: proofOf }, proveBlockedDead: proofOf });
    const { store, clock, sagaOfIt: saga } = scene;
    await scene.watchdogLease.start();
    const { session, pid, runId } = await runWithProcess(scene);
    const next = await acceptMessage(scene, '2');
    const incident = await openIncident(scene, session);
    await settle(saga, incident.incident_id);
    await clock.advance(10 * MINUTE);
    await settle(saga, incident.incident_id);
    expect(scene.said.filter((text) => text.includes('could not be proven'))).toHaveLength(1);

    await lookAndSettle(scene);
    await lookAndSettle(scene);
    const told = { event: 'queue_stalled', final: false, session_id: session.session_id };
    expect(blockedEvents(scene)).toMatchObject([{ ...told, details: { lane: LANE, processes: [pid] } }]);
    const run = { run_id: 'another', owner: HERE, pid: null, started_at: clock.now() };
    expect(await store.transitions.start(next, run, LEASE_MS)).toBeNull();
    expect(await scene.queue.pump()).toBe(0);

    await endProcess(pid, runId);
    await clock.advance(10 * SECOND);
    await lookAndSettle(scene);
    expect(blockedEvents(scene).at(-1)).toMatchObject({ final: true });
    expect(await store.blockedLanes.all()).toEqual([]);
    expect(await scene.queue.pump()).toBe(1);
    expect(await store.transitions.start(next, run, LEASE_MS)).not.toBeNull();
  });

  // rule: an-unproven-run-blocks-its-lane
  test('still answers, and blocks its lane', async () => {
    const scene = await openWatchdogScene({ proveBlockedDead: proofOf });
    await scene.watchdogLease.start();
    const { session, pid, runId } = await runWithProcess(scene);
    const completed = await scene.store.transitions.complete(session.session_id, runId, 'done', { isGone: false });
    expect(completed?.session).toMatchObject({ status: 'completed', request: { delivery: 'queued' } });
    await lookAndSettle(scene);
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: runId });
    await endProcess(pid, runId);
    await lookAndSettle(scene);
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: null });
  });

  test('does not block its lane longer than it lives if the events cannot be written', async () => {
    const scene = await openWatchdogScene({ proveBlockedDead: proofOf });
    await scene.watchdogLease.start();
    const { session, pid, runId } = await runWithProcess(scene);
    await scene.store.transitions.complete(session.session_id, runId, 'done', { isGone: false });
    mkdirSync(scene.events.file);
    await lookAndSettle(scene);
    expect(scene.logged.filter((line) => line.includes('could not be written')).length).toBeGreaterThan(0);
    await endProcess(pid, runId);
    await lookAndSettle(scene);
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: null });
  });

  test('is ended by the next bridge on its host, which frees the lane', async () => {
    const scene = await openWatchdogScene();
    const { store, logger } = scene;
    const { session, runId } = await runWithProcess(scene);
    await store.transitions.complete(session.session_id, runId, 'done', { isGone: false });
    await endPredecessorsRuns({
      endOnDisk: async () => null,
      stopMark: { wasStopping: async () => false },
      store,
      clock: systemClock,
      logger,
      here: HERE,
      settings: { logsFolder: '/nowhere', timings: { killGraceMs: 10 * SECOND } } as Settings,
      logsId: 'LOGS',
    });
    expect(markedPids(runId)).toEqual([]);
    expect(await store.records.lane(LANE)).toMatchObject({ holder: null });
  });

  // rule: an-unproven-run-blocks-its-lane
  test('is never revived: the store refuses it', async () => {
    const scene = await openWatchdogScene();
    const { session } = await runWithProcess(scene);
    const incident = await openIncident(scene, session);
    const named = must(await scene.store.records.session(session.session_id));
    expect(await scene.store.incidents.revive(named, incident, { endReason: 'x', guard: [] })).toBeNull();
    expect(await scene.store.records.session(`${session.session_id}_r1`)).toBeNull();
  });

  test('and has no record is proven dead by its mark alone, two leases after its lane was found', async () => {
    const scene = await openWatchdogScene();
    const { store, clock } = scene;
    const { pid, runId, session } = await runWithProcess(scene);
    const proofs = new RunProofs({ ...scene, here: HERE, logsFolder: scene.folder, runLeaseMs: LEASE_MS } as never);
    await store.redis.hset(store.keys.blockedLanes, LANE, 'not JSON');
    const [unknown] = await store.blockedLanes.all();
    expect(unknown).toMatchObject({ lane: LANE, run_id: runId, run: null });
    const blocked = { ...must(unknown), since: clock.now() };
    const withRecord = { ...blocked, run: session.run, session_id: session.session_id };
    await clock.advance(2 * LEASE_MS + 1);
    expect(await proofs.ofBlocked(blocked)).toBeNull();
    await endProcess(pid, runId);
    expect(await proofs.ofBlocked({ ...blocked, since: clock.now() })).toBeNull();
    expect(await proofs.ofBlocked({ ...blocked, lane: 'elsewhere:/srv/popoto' })).toBeNull();
    for (const each of [blocked, withRecord])
      expect(await proofs.ofBlocked(each)).toMatchObject({ run_id: runId, by: 'scan' });
  });
});
