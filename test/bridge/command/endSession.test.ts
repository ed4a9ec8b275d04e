/** The end of a session, by either command. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { testFolder } from '../../harness/folder.js';
import { WorkScene } from '../cli/work/scene.js';

test.each([
  ['track', 'done'],
  ['work', 'end'],
] as const)('%s %s frees the directory of the session, wherever it is typed', async (name, word) => {
  const scene = new WorkScene();
  const { session_id } = await scene.json('work', ['start', '--purpose', 'T']);
  const ended = await scene.json(name, [word, '--session', session_id], { where: testFolder() });
  expect(ended).toEqual({ session_id, reason: 'completed' });
  const [file = ''] = readdirSync(join(scene.home, 'workspaces'));
  const log = readFileSync(join(scene.home, 'workspaces', file), 'utf8');
  expect(log.trimEnd().split('\n').at(-1)).toContain('"event":"released"');
});

test('what failed or is open is named at the end of a session, and in what is shown of it later', async () => {
  const scene = new WorkScene();
  const { session_id: id } = await scene.json('track', ['init', 'Fix it', '--step', 'Look', '--step', 'Mend']);
  await scene.say('track', ['step', '1', '--start']);
  await scene.say('track', ['step', '1', '--fail', 'no access']);
  await scene.say('track', ['step', '2', '--start']);
  const refused = await scene.say('track', ['done']);
  expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/^1 step is open:\n {2}\[~\] 2 Mend\n/) });
  expect(await scene.json('work', ['end'])).toEqual({
    session_id: id,
    reason: 'completed',
    not_done: [
      { id: '1', title: 'Look', status: 'failed', reason: 'no access' },
      { id: '2', title: 'Mend', status: 'in_progress', reason: null },
    ],
  });
  const shown = (await scene.say('work', ['show', id])).out;
  expect(shown).toContain('\nended, completed (1 step failed, 1 step is open); no agent is known;');
  await scene.say('work', ['reopen', id]);
  expect((await scene.say('track', ['done', '--complete'])).out).toBe(
    `session ${id} has ended: completed\nnot done: 1 step failed\n  [!] 1 Look (no access)\nTo go on with it: watchkeeper work reopen ${id}\n`,
  );
});
