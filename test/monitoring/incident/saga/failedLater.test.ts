/** A second attempt that worked, so that the first one's incident is closed as recovered, and failed later by another rule. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Reporter } from '../../../../monitoring/incident/sagaContext.js';
import { UnreachableError } from '../../../../src/errors.js';
import { revivalSessionId } from '../../../../src/ids.js';
import type { Incident } from '../../../../src/jobs/incidents.js';
import { MINUTE } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import { Mortal } from './mortal.js';
import {
  activeSession,
  findingOf,
  incidentNow,
  issueText,
  must,
  openIncident,
  openSagaScene,
  releaseRun,
  type SagaScene,
  settle,
  startRun,
} from './sagaScene.js';

const LATER = 'The second attempt failed later';

/** The saga of a revival that has done real work. */
function workingSaga(scene: SagaScene, changes: Parameters<SagaScene['saga']>[0] = {}) {
  return scene.saga({ hasWorked: async () => true, ...changes });
}

/** @returns the first incident, whose second attempt works */
async function recover(scene: SagaScene, saga = workingSaga(scene)): Promise<Incident> {
  const session = await activeSession(scene);
  const incident = await openIncident(scene, session);
  await settle(saga, incident.incident_id);
  await releaseRun(scene, session);
  await settle(saga, incident.incident_id);
  await settle(saga, incident.incident_id);
  return incidentNow(scene, incident);
}

/** @returns the incident of the second attempt, whose run has ended */
async function accuseSecond(scene: SagaScene, first: Incident, rule: 'crash' | 'silence' = 'crash'): Promise<Incident> {
  const revival = must(await scene.store.records.session(revivalSessionId(first.session_id)));
  const finding = rule === 'crash' ? findingOf('crash', 'run_failed_exit_1') : findingOf();
  const second = await openIncident(scene, await startRun(scene, revival), { findings: [finding] });
  await releaseRun(scene, revival);
  return second;
}

function comments({ folder }: SagaScene, number = 1): string {
  const path = join(folder, 'issues', `${number}.comments.md`);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function laterComments(scene: SagaScene): number {
  return comments(scene).split(LATER).length - 1;
}

/** @returns the URL of the issue of the second attempt's failure: the cap has put it into the project's roll-up issue */
async function urlOf(scene: SagaScene, second: Incident): Promise<string> {
  return must((await incidentNow(scene, second)).report.url);
}

describeWithRedis('a second attempt that worked and failed later by another rule', () => {
  test('is no such one if it had never worked: the first incident ends with it', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga({ hasWorked: async () => false });
    const first = await recover(scene, saga);
    const second = await accuseSecond(scene, first);
    for (const { incident_id } of [second, first]) await settle(saga, incident_id);
    await settle(saga, second.incident_id);
    const ended = await incidentNow(scene, first);
    expect(ended).toMatchObject({ step: 'closed', outcome: 'revival_failed' });
    expect(ended.failed_later).toBeUndefined();
    expect(issueText(scene)).not.toContain(LATER);
  });

  // rule: a-later-failure-is-on-the-first-issue
  test('is on the closed issue of the first, in its text and one comment, with the issue that has the failure', async () => {
    const scene = await openSagaScene();
    const first = await recover(scene);
    expect(first).toMatchObject({ step: 'closed', outcome: 'recovered' });
    expect(comments(scene)).toContain('It needs nobody any more: the second attempt has begun to work.');
    const saga = workingSaga(scene);
    const second = await accuseSecond(scene, first);
    await settle(saga, second.incident_id);
    expect(await incidentNow(scene, second)).toMatchObject({ step: 'closed', outcome: 'told' });
    const url = await urlOf(scene, second);
    expect(url).toMatch(/2\.md$/);
    expect(issueText(scene)).toContain(
      `**Needs nobody:** the second attempt failed later, and ${url} says what that needs.`,
    );
    expect(issueText(scene)).toContain(`- Later: ${LATER}, by \`crash\`: ${url}`);
    expect(comments(scene)).toContain(`${LATER}, by \`crash\`: ${url}`);
    expect(laterComments(scene)).toBe(1);
    expect(issueText(scene)).toContain('"state": "closed"');
    expect(issueText(scene, 2)).toContain('**Needs you:** Find out why both attempts failed.');
    expect(await incidentNow(scene, first)).toMatchObject({ step: 'closed', outcome: 'recovered' });
  });

  test('needs no comment if it has the same issue, which its failure opens again', async () => {
    const scene = await openSagaScene();
    const first = await recover(scene);
    const second = await accuseSecond(scene, first, 'silence');
    await settle(workingSaga(scene), second.incident_id);
    const url = await urlOf(scene, second);
    expect(issueText(scene)).toContain('**Needs you:** Find out why both attempts failed.');
    expect(issueText(scene)).toContain(`- Later: ${LATER}, by \`silence\`: ${url}`);
    expect(issueText(scene)).toContain('"state": "open"');
    expect(laterComments(scene)).toBe(0);
  });

  test('stays on the issue if the recovery is noted there only after it, because GitHub was away', async () => {
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
    const first = await recover(scene, saga);
    expect(first).toMatchObject({ outcome: 'recovered', note: { tries: 1 } });
    const second = await accuseSecond(scene, first);
    await settle(saga, second.incident_id);
    expect(await incidentNow(scene, second)).toMatchObject({ outcome: 'told', note: { tries: 1 } });
    isAway = false;
    await scene.clock.advance(MINUTE);
    await settle(saga, second.incident_id);
    await settle(saga, first.incident_id);
    for (const one of [first, second]) expect(await incidentNow(scene, one)).toMatchObject({ step: 'closed' });
    expect(issueText(scene)).toContain(`- Later: ${LATER}, by \`crash\`: ${await urlOf(scene, second)}`);
    expect(laterComments(scene)).toBe(1);
  });

  test.each(['after', 'before'] as const)(
    'is there once if a watchdog dies %s any effect and another one goes on',
    async (when) => {
      for (let diesAt = 1; ; diesAt += 1) {
        const scene = await openSagaScene();
        const first = await recover(scene);
        const second = await accuseSecond(scene, first);
        const mortal = new Mortal(diesAt, when);
        const dying = workingSaga(scene, mortal.context(scene));
        for (let rounds = 0; rounds < 2 && !mortal.dead; rounds += 1) {
          await dying.advance(second.incident_id).catch(() => null);
          await dying.settle();
        }
        // The claim of a send that nobody answered for runs out.
        await scene.clock.advance(11_000);
        await settle(workingSaga(scene), second.incident_id);
        await settle(workingSaga(scene), second.incident_id);
        const where = `died ${when} effect ${diesAt}`;
        expect({ where, second: await incidentNow(scene, second) }).toMatchObject({
          where,
          second: { step: 'closed' },
        });
        const text = issueText(scene);
        expect({ where, text }).toMatchObject({ where, text: expect.stringContaining(`- Later: ${LATER}`) });
        expect({ where, comments: laterComments(scene) }).toEqual({ where, comments: 1 });
        if (!mortal.dead) break;
      }
    },
    60_000,
  );
});
