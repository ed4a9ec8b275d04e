import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { filesInDoubt } from '../../../memory/condition/filesInDoubt.js';
import { newWorklog } from '../../../memory/fold/newWorklog.js';
import { Observed } from '../../../memory/observed/observed.js';
import { testFolder } from '../../harness/folder.js';
import { at } from '../../src/transcripts/told.js';

/** The lines of a turn of a conversation. */
const turn = (session_id: string, ...lines: readonly object[]) =>
  [{ event: 'user_prompt', origin: 'human' }, ...lines].map((line) => ({ v: 1, session_id, ...line }));

test('a file that was touched and then renamed is in doubt under its last name, and is not missed under the others', () => {
  const directory = testFolder();
  writeFileSync(join(directory, 'last.ts'), 'half');
  const lines = turn(
    'c1',
    { event: 'files', modified: ['old.ts'] },
    { event: 'files', renamed: [{ from: 'old.ts', to: 'new.ts' }] },
    { event: 'files', renamed: [{ from: 'new.ts', to: 'last.ts' }] },
  );
  const doubtful = filesInDoubt({ log: newWorklog(), fold: observe(lines) }, directory);
  expect(doubtful.map(({ path, exists, size }) => [path, exists, size])).toEqual([['last.ts', true, 4]]);
});

test('a file of a turn that was left is in doubt under its new name until the turn that renamed it has ended', () => {
  const directory = testFolder();
  const lines = [
    ...turn('c1', { event: 'files', modified: ['old.ts'] }),
    ...turn(
      'c2',
      { event: 'pre_tool_use', tool_name: 'Bash', tool_use_id: 't' },
      { event: 'files', modified: ['old.ts'], renamed: [{ from: 'old.ts', to: 'new.ts' }] },
    ),
  ];
  const pathsAfter = (more: readonly object[]) =>
    filesInDoubt({ log: newWorklog(), fold: observe([...lines, ...more]) }, directory).map(({ path }) => path);
  expect(pathsAfter([])).toEqual(['new.ts']);
  expect(pathsAfter([{ v: 1, session_id: 'c2', event: 'turn_end', reason: 'end_turn' }])).toEqual([]);
});

test('a file that the command of a shell was writing is in doubt if it has come to that', () => {
  const directory = testFolder();
  for (const name of ['half.ts', 'before.ts']) writeFileSync(join(directory, name), 'half');
  utimesSync(join(directory, 'before.ts'), 0, 0);
  const command = 'echo 1 > half.ts; sleep 9; echo 2 > before.ts; echo 3 > absent.ts';
  const call = { event: 'pre_tool_use', tool_name: 'Bash', tool_use_id: 't', tool_input: { command } };
  const pathsAfter = (...more: readonly object[]) =>
    filesInDoubt({ log: newWorklog(), fold: observe(turn('c1', call, ...more)) }, directory).map(({ path }) => path);
  expect(pathsAfter()).toEqual(['half.ts']);
  expect(pathsAfter({ event: 'post_tool_use', tool_use_id: 't', outcome: 'ok' })).toEqual([]);
});

function observe(lines: readonly object[]): Observed {
  const fold = new Observed();
  for (const [second, line] of lines.entries()) fold.take({ v: 1, timestamp: at(second), ...line });
  return fold;
}
