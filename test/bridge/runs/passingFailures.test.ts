import { expect, test } from '@jest/globals';
import type { AgentEnd } from '../../../bridge/agents/program/contract.js';
import { exhausted, isExhausted, notStarted } from '../../../bridge/agents/program/notStarted.js';
import { type EndContext, storeEnd } from '../../../bridge/runs/storeEnd.js';
import { waitText } from '../../../monitoring/incident/texts/chatTexts.js';
import type { Settings } from '../../../src/config/settings.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { DAY, MINUTE, SECOND } from '../../../src/time.js';
import { describeWithRedis } from '../../harness/redis.js';
import {
  activeSession,
  LEASE_MS,
  openIncident,
  openSagaScene,
  runIdOf,
  type SagaScene,
  sessionNow,
  startRun,
} from '../../monitoring/incident/saga/sagaScene.js';

type Failed = Extract<AgentEnd, { kind: 'failed' }>;

const BUSY = {
  kind: 'failed',
  cause: 'provider_unavailable',
  reason: 'run_failed_provider_unavailable',
  detail: 'API Error: 529',
} as const;

async function endBusy(
  scene: SagaScene,
  session: AgentSession,
  end: Partial<Failed> = {},
  stopCause: 'requested' | null = null,
) {
  const { store, clock, logger } = scene;
  const timings = { runLeaseMs: LEASE_MS, providerPauseMs: 15_000 };
  const context: EndContext = {
    store,
    clock,
    logger,
    settings: { logsFolder: '/nowhere', projects: new Map(), timings } as unknown as Settings,
    lanes: { startNext: async () => undefined },
    forgotten: { note: () => undefined, noteLost: async () => undefined },
  };
  const runId = runIdOf(session);
  const proof = { run_id: runId, proven_at: clock.now(), by: 'scan' } as const;
  const ended = { sessionId: session.session_id, runId, known: null, proof, stopCause, end: { ...BUSY, ...end } };
  const call = { ...ended, activity: { calls: 3, lastCallAt: clock.now() } };
  await storeEnd(context, call);
  // The reply to the first time may have been lost.
  await storeEnd(context, call);
  return sessionNow(scene, session);
}

describeWithRedis('a run that fails because its provider is busy', () => {
  // rule: a-busy-provider-is-waited-for
  test('waits twice as long each time, ten minutes at the most, and is accused after the twelfth', async () => {
    const scene = await openSagaScene();
    let session = await activeSession(scene);
    const pauses: number[] = [];
    for (;;) {
      const after = await endBusy(scene, session);
      if (after.status !== 'pending' || after.not_before === null) break;
      expect(after).toMatchObject({
        attempt: 1,
        interruptions: 0,
        wait: { for: 'provider', times: pauses.length + 1 },
      });
      expect(waitText(after, after.not_before)).toContain('busy or cannot be reached');
      pauses.push((after.not_before - scene.clock.now()) / SECOND);
      await scene.clock.advance(after.not_before - scene.clock.now());
      session = await startRun(scene, after);
    }
    expect(pauses).toEqual([15, 30, 60, 120, 240, 480, 600, 600, 600, 600, 600, 600]);
    const [incident] = await scene.store.records.openIncidents();
    expect(incident?.findings).toMatchObject([{ rule: 'crash', reason: 'run_failed_provider_unavailable' }]);
    // It may be run a second time.
    expect(incident?.not_revived_because).toBeNull();
  });

  test('waits until the end that the program states, unless that is days away', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const until = scene.clock.now() + 7 * MINUTE;
    expect(await endBusy(scene, session, { until })).toMatchObject({ status: 'pending', not_before: until });
    const late = await openSagaScene();
    const waiting = await activeSession(late);
    const after = await endBusy(late, waiting, { until: late.clock.now() + DAY + MINUTE });
    expect(after).toMatchObject({ status: 'active', wait: null });
  });

  test('does not wait if a person cancelled it, or an incident acts on it', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    await scene.store.transitions.cancel(session.session_id, 'x');
    expect(await endBusy(scene, session, {}, 'requested')).toMatchObject({ status: 'cancelled' });
    const acted = await openSagaScene();
    const accused = await activeSession(acted);
    const incident = await openIncident(acted, accused);
    expect(await endBusy(acted, accused)).toMatchObject({ status: 'active', incident_id: incident.incident_id });
  });
});

describeWithRedis('a run that cannot be started because its host lacks something', () => {
  // rule: scarcity-costs-no-attempt
  test('waits like one whose provider is busy, counted by itself, and its chat reads why', async () => {
    const scene = await openSagaScene();
    let session = await activeSession(scene);
    const starved = exhausted('EAGAIN') as Failed;
    for (const [end, wait] of [
      [BUSY, { for: 'provider', times: 1 }],
      [starved, { for: 'host', times: 1 }],
      [starved, { for: 'host', times: 2 }],
    ] as const) {
      const after = await endBusy(scene, session, end);
      expect(after).toMatchObject({ status: 'pending', attempt: 1, interruptions: 0, wait });
      if (wait.for === 'host') expect(waitText(after, after.not_before ?? 0)).toContain('too busy to start an agent');
      await scene.clock.advance((after.not_before ?? 0) - scene.clock.now());
      session = await startRun(scene, after);
    }
    expect(await scene.store.records.openIncidents()).toEqual([]);
  });

  // rule: scarcity-costs-no-attempt
  test.each(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])("is known by the system's %s", (code) => {
    const refused = Object.assign(new Error(`spawn prlimit ${code}`), { code });
    expect(notStarted('/usr/bin/codex', refused)).toMatchObject({ cause: 'host_exhausted' });
  });

  // rule: scarcity-costs-no-attempt
  test.each([
    'bwrap: Creating new namespace failed: Resource temporarily unavailable',
    "bwrap: Can't mkdir /home/x: No space left on device",
  ])('is known by the words of the sandbox: %s', (words) => {
    expect(isExhausted(new Error(words))).toBe(true);
    expect(isExhausted(new Error('bwrap: No permissions to create a new namespace'))).toBe(false);
  });
});
