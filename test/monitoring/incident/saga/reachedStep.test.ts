/** The step that an agent had reached, in what is said of its failure. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseEvent } from '../../../../monitoring/events/criticalEventTail.js';
import { DEFAULT_ACTIONS } from '../../../../src/config/projects.js';
import { journalPath } from '../../../../src/journal/path.js';
import { describeWithRedis } from '../../../harness/redis.js';
import {
  activeSession,
  eventLines,
  findingOf,
  issueText,
  openSagaScene,
  type SagaScene,
  sessionNow,
} from './sagaScene.js';

const TITLE = 'Write the tests\nfor the login';

async function accuse(scene: SagaScene, ...titles: string[]) {
  const session = await activeSession(scene);
  const path = journalPath(scene.folder, session.session_id);
  mkdirSync(dirname(path), { recursive: true });
  const items = titles.map((title, index) => ({ title, status: index === 0 ? 'completed' : 'pending' }));
  const line = { v: 1, timestamp: '2026-01-01T00:00:00.000Z', event: 'plan', mode: 'replace', items };
  appendFileSync(path, `${JSON.stringify(line)}\n`);
  const saga = scene.saga();
  const evidence = { findings: [findingOf('silence')], actions: DEFAULT_ACTIONS, toolCount: 1, lastToolCall: null };
  await saga.accuse(await sessionNow(scene, session), evidence);
  await saga.settle();
  return eventLines(scene);
}

describeWithRedis('the step that an accused agent had reached', () => {
  test('is in the event and its sentence; its title is in no log line', async () => {
    const scene = await openSagaScene();
    const lines = await accuse(scene, 'Look', TITLE, 'Push');
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line.step).toEqual({ number: 2, of: 3, title: TITLE });
      expect(line.details).toMatchObject({
        findings: [
          {
            sentence: expect.stringMatching(/; the agent had reached step 2 of 3: Write the tests\\nfor the login\.$/),
          },
        ],
      });
    }
    expect(await scene.events.readRecentEvents()).toMatchObject(lines.map(({ step }) => ({ step })));
    expect(scene.logged.join()).toContain('the agent had reached step 2 of 3.');
    expect(scene.logged.join()).not.toContain('Write the tests');
    expect(issueText(scene)).toMatch(/^- Reached: step 2 of 3: `Write the tests for the login`$/m);
  });

  test('that somebody else wrote badly into the file counts as absent', async () => {
    const scene = await openSagaScene();
    const [line] = await accuse(scene, 'Look', TITLE);
    for (const step of [7, null, [], { number: '2', of: 3, title: 'x' }, { number: 2, of: 3 }])
      expect(parseEvent(JSON.stringify({ ...line, step }))).not.toHaveProperty('step');
    expect(parseEvent(JSON.stringify(line))).toHaveProperty('step');
  });

  test('is not mentioned if it keeps no list', async () => {
    const [line] = await accuse(await openSagaScene());
    expect(line).not.toHaveProperty('step');
    expect(JSON.stringify(line)).not.toContain('the agent had reached');
  });
});
