// covers: memory/verbs/againstEnding.ts memory/worktrees/reasons.ts
/** The remedies are typed as they are printed, and then the worktree can be removed. */
import { spawnSync } from 'node:child_process';
import { chmodSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { compiledProgram } from '../../../../src/host/program.js';
import { put } from '../../../memory/git/plainGit.js';
import { Ends } from './endScene.js';

let made: Ends;
let path: string;

beforeEach(() => {
  made = new Ends({ branches: ['feature/one'] });
  path = made.placeOf('feature/one');
  const program = join(made.folder, 'watchkeeper');
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${compiledProgram('bridge/cli/main')} "$@"\n`);
  chmodSync(program, 0o755);
});

/** Commits a file that has a filter, and gives it another time: then git runs the filter to see that it is unchanged. */
function touched(root: string): void {
  for (const key of ['filter.turn.clean', 'filter.turn.smudge']) made.git.run(root, 'config', key, 'tr a-z n-za-m');
  put(join(root, '.gitattributes'), 'turned filter=turn\n');
  put(join(root, 'turned'), 'text\n');
  made.git.commitAll(root, 'a filter');
  utimesSync(join(root, 'turned'), 5, 5);
}

const called = (...args: string[]) => expect(made.callIn(path, args)).toMatchObject({ code: 0 });

test.each<readonly [string, () => unknown, string?]>([
  ['session', () => called('work', 'start', '--purpose', 'The task')],
  [
    'handoff',
    () => {
      const file = join(made.folder, 'handoff.json');
      put(file, JSON.stringify({ title: 'The rest', goal: 'All of it', learnings: ['one'], next: ['two'] }));
      called('handoff', 'create', '--from', file);
    },
  ],
  ['locked', () => made.git.run(made.root, 'worktree', 'lock', '--reason', 'on a stick', path)],
  ['changes', () => touched(path), '1 changed file (turned) as seen without the filter turn'],
  ['target', () => touched(made.root), 'has changes in turned as seen without the filter turn'],
])('%s', async (name, prepare, part = '') => {
  prepare();
  const reason = async () => (await made.ended(['one', '--merge'])).reasons.find((each) => each.reason === name);
  const { words = '', remedy = '' } = (await reason()) ?? {};
  expect(words).toContain(part);
  const commands = [...remedy.matchAll(/`([^`]+)`/g)].map(([, command]) => command ?? '');
  expect(commands).not.toEqual([]);
  const env = { ...made.variables, PATH: [made.folder, process.env.PATH].join(delimiter) };
  const [first = ''] = commands;
  expect(spawnSync('sh', ['-c', first], { cwd: made.root, env, encoding: 'utf8' })).toMatchObject({ status: 0 });
  expect(await made.ended(['one', '--merge'])).toMatchObject({ code: 0, removed: true });
});
