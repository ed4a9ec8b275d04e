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
