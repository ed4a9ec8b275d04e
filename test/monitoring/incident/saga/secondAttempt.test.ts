/** A second attempt that works: its message has not recovered until it is answered. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { IncidentSaga } from '../../../../monitoring/incident/saga/saga.js';
import type { Reporter } from '../../../../monitoring/incident/sagaContext.js';
import { UnreachableError } from '../../../../src/errors.js';
import { revivalSessionId } from '../../../../src/ids.js';
import type { Incident } from '../../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import { DAY, HOUR } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import {
  acceptMessage,
  activeSession,
  eventLines,
  findingOf,
  incidentNow,
  issueText,
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
} from './sagaScene.js';

const RUNNING = '**Needs nobody yet:** the second attempt is running.';

/** The saga of a revival that has done real work. */
function workingSaga(scene: SagaScene, changes: Parameters<SagaScene['saga']>[0] = {}): IncidentSaga {
  return scene.saga({ hasWorked: async () => true, ...changes });
}

/** @returns the incident of the first attempt, with a second one that runs and works */
async function revive(scene: SagaScene, saga: IncidentSaga): Promise<{ first: Incident; revival: AgentSession }> {
  const session = await activeSession(scene);
  const first = await openIncident(scene, session);
  await settle(saga, first.incident_id);
  await releaseRun(scene, session);
  await settle(saga, first.incident_id);
  const waiting = must(await scene.store.records.session(revivalSessionId(session.session_id)));
  const revival = await startRun(scene, waiting);
  await settle(saga, first.incident_id);
  return { first, revival };
}

async function complete({ store }: SagaScene, revival: AgentSession): Promise<void> {
  must(await store.transitions.complete(revival.session_id, runIdOf(revival), 'done'));
}

function comments({ folder }: SagaScene, number = 1): string {
  const path = join(folder, 'issues', `${number}.comments.md`);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

describeWithRedis('a second attempt that works', () => {
  // rule: only-an-answer-is-a-recovery
  test('is no recovery: the issue stays open, and says without a comment that it runs; the answer closes it', async () => {
    const scene = await openSagaScene();
    const saga = workingSaga(scene);
    const { first, revival } = await revive(scene, saga);
    expect(await incidentNow(scene, first)).toMatchObject({ step: 'revived', outcome: null });
    expect(issueText(scene)).toContain(RUNNING);
    expect(issueText(scene)).toContain(', and that attempt is running.');
    expect(issueText(scene)).toContain('"state": "open"');
    expect(comments(scene)).toBe('');

    await complete(scene, revival);
    await settle(saga, first.incident_id);
    expect(await incidentNow(scene, first)).toMatchObject({ step: 'closed', outcome: 'recovered' });
    expect(issueText(scene)).toContain('**Needs nobody:** the second attempt answered the message.');
    expect(issueText(scene)).toContain('"state": "closed"');
    expect(comments(scene)).toContain('It needs nobody any more: the second attempt answered the message.');
  });

  test.each(['silence', 'crash'] as const)(
    'and is accused then (%s): the issue was never closed, and the first incident ends with the second',
    async (rule) => {
      const scene = await openSagaScene();
      const saga = workingSaga(scene);
      const { first, revival } = await revive(scene, saga);
      const finding = rule === 'crash' ? findingOf('crash', 'run_failed_exit_1') : findingOf();
      const second = await openIncident(scene, revival, { findings: [finding] });
      for (const { incident_id } of [second, first]) await settle(saga, incident_id);
      expect(await incidentNow(scene, first)).toMatchObject({ step: 'revived', outcome: null });
      await releaseRun(scene, revival);
      for (const { incident_id } of [second, first]) await settle(saga, incident_id);

      expect(await incidentNow(scene, second)).toMatchObject({ step: 'closed', outcome: 'told' });
      const ended = await incidentNow(scene, first);
      expect(ended).toMatchObject({ step: 'closed', outcome: 'revival_failed' });
      expect(ended.failed_later).toBeUndefined();
      expect(eventLines(scene).filter(({ event }) => event === 'session_recovered')).toEqual([]);
      expect(issueText(scene)).toContain('**Needs you:** Find out why both attempts failed.');
      expect(issueText(scene)).toContain('"state": "open"');
      expect(comments(scene)).not.toContain('nobody any more');
    },
  );

  test('for hours costs nothing: no lane, no second write to the issue, no record; another watchdog closes it', async () => {
    const scene = await openSagaScene();
    let notes = 0;
    const reporter: Reporter = {
      report: (incident, session) => scene.reporter.report(incident, session),
      async noteOutcome(incident) {
        notes += 1;
        await scene.reporter.noteOutcome(incident);
      },
    };
    const { first, revival } = await revive(scene, workingSaga(scene, { reporter }));
    const before = await sessionNow(scene, revival);
    for (let hours = 0; hours < 6; hours += 1) {
      await scene.clock.advance(HOUR);
      // Nothing is planned: only the end of the second attempt, or a round, looks at it.
      expect(await workingSaga(scene, { reporter }).advance(first.incident_id)).toBeNull();
    }
    expect(notes).toBe(1);
    expect(await sessionNow(scene, revival)).toEqual(before);
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: runIdOf(revival) });

    const next = await acceptMessage(scene, '2');
    await complete(scene, revival);
    // The lane goes on although the incident of its last message is still open.
    expect(await startRun(scene, next)).toMatchObject({ status: 'active' });
    // Retention leaves what the open incident still needs.
    const { expired } = await scene.store.expiry.endedSessions(scene.clock.now() + DAY, 0, 10);
    expect(expired.map(({ sessionId }) => sessionId)).not.toContain(first.session_id);
    await settle(workingSaga(scene, { reporter }), first.incident_id);
    expect(await incidentNow(scene, first)).toMatchObject({ step: 'closed', outcome: 'recovered' });
    expect(notes).toBe(2);
  });

  test('is tried once on an unreachable GitHub, and keeps neither its answer nor its incident', async () => {
    const scene = await openSagaScene();
    let isAway = true;
    const reporter: Reporter = {
      report: (incident, session) => scene.reporter.report(incident, session),
      async noteOutcome(incident) {
        if (isAway) throw new UnreachableError('away');
        await scene.reporter.noteOutcome(incident);
      },
    };
    const saga = workingSaga(scene, { reporter });
    const { first, revival } = await revive(scene, saga);
    expect(await incidentNow(scene, first)).toMatchObject({ step: 'revived', is_running_noted: true });
    expect(issueText(scene)).toContain('**Needs nobody yet:** the message is tried once more.');
    expect(scene.logged.join()).toContain('its issue does not show that the second attempt runs: away');
    isAway = false;
    await complete(scene, revival);
    await settle(saga, first.incident_id);
    expect(await incidentNow(scene, first)).toMatchObject({ step: 'closed', outcome: 'recovered' });
    expect(issueText(scene)).toContain('**Needs nobody:** the second attempt answered the message.');
  });

  test('that a person cancels ends its incident as that', async () => {
    const scene = await openSagaScene();
    const saga = workingSaga(scene);
    const { first, revival } = await revive(scene, saga);
    await scene.store.transitions.cancel(revival.session_id, 'Cancelled at your request.');
    await releaseRun(scene, revival);
    await scene.store.transitions.cancelReleased(revival.session_id, runIdOf(revival), 'Cancelled at your request.');
    await settle(saga, first.incident_id);
    expect(await incidentNow(scene, first)).toMatchObject({ step: 'closed', outcome: 'revival_cancelled' });
    expect(issueText(scene)).toContain('**Needs nobody:** a person cancelled the second attempt.');
  });
});
