import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { filesInDoubt } from '../../../memory/condition/filesInDoubt.js';
import { newWorklog } from '../../../memory/fold/newWorklog.js';
import { Observed } from '../../../memory/observed/observed.js';
import { testFolder } from '../../harness/folder.js';
import { at } from '../../src/transcripts/told.js';
import { WorklogScene } from '../worklogScene.js';

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

test('a file that a completed phase names is not in doubt, unless it was touched again later', () => {
  const directory = testFolder();
  for (const name of ['done.ts', 'again.ts', 'other.ts']) writeFileSync(join(directory, name), 'x');
  const modified = ['done.ts', 'again.ts', 'other.ts'];
  const lines = turn('c1', { event: 'files', modified }, { event: 'files', modified: ['again.ts'] });
  const scene = new WorklogScene();
  scene.write('step_added', { step: '1', title: 'Design' });
  scene.step('1', 'in_progress');
  const step = scene.log.steps.get('1');
  const pathsWhen = (status: 'completed' | 'failed') => {
    const files = { created: ['done.ts'], modified: ['again.ts'], deleted: [] };
    const ended = { ...step, status, ended_at: Date.parse(at(1)) + 1, files } as NonNullable<typeof step>;
    const log = { ...scene.log, steps: new Map([['1', ended]]) };
    return filesInDoubt({ log, fold: observe(lines) }, directory).map(({ path }) => path);
  };
  expect(pathsWhen('completed')).toEqual(['again.ts', 'other.ts']);
  expect(pathsWhen('failed')).toEqual(['done.ts', 'again.ts', 'other.ts']);
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

const ends = (reason: string) => ({ event: 'turn_end', reason });
/** A conversation that runs one command of a shell. */
const runs = (session_id: string, command: string, result: object | null, end: string | null) =>
  turn(
    session_id,
    { event: 'pre_tool_use', tool_name: 'Bash', tool_use_id: session_id, tool_input: { command } },
    ...(result === null ? [] : [{ event: 'post_tool_use', tool_use_id: session_id, outcome: 'ok', ...result }]),
    ...(end === null ? [] : [ends(end)]),
  );

test.each<[string, object[], string[]]>([
  ['that does something else', runs('c2', 'ls', {}, 'end_turn'), ['half.ts']],
  ['that writes it', runs('c2', 'echo all > half.ts', {}, 'end_turn'), []],
  ['that fails to write it', runs('c2', 'make > half.ts', { outcome: 'failed' }, 'end_turn'), ['half.ts']],
  ['that writes it in the background', runs('c2', 'make > half.ts', { in_background: true }, 'end_turn'), ['half.ts']],
  ['that was cut off after it had written it', runs('c2', 'echo all > half.ts', {}, 'cut_off'), ['half.ts']],
  ['that was killed after it had written it', runs('c2', 'echo all > half.ts', {}, null), ['half.ts']],
])('a file that a killed command was writing stays in doubt after another conversation %s', (_, next, left) => {
  const directory = testFolder();
  writeFileSync(join(directory, 'half.ts'), 'half');
  for (const end of [null, 'cut_off']) {
    const fold = observe([...runs('c1', 'make > half.ts; make > absent.ts', null, end), ...next]);
    expect(filesInDoubt({ log: newWorklog(), fold }, directory).map(({ path }) => path)).toEqual(left);
  }
});

test.each<[string, object]>([
  ['writes in the background', { in_background: true }],
  ['was writing when its program killed it', { outcome: 'failed' }],
])('a file that a command %s is in doubt until the turn ends, or somebody calls it done', (_, result) => {
  const directory = testFolder();
  writeFileSync(join(directory, 'half.ts'), 'half');
  const pathsAfter = (end: string | null, log = newWorklog(), ...then: readonly object[]) => {
    const fold = observe([
      ...runs('c1', 'make > half.ts', result, null),
      ...then,
      ...(end === null ? [] : [{ session_id: 'c1', ...ends(end) }]),
    ]);
    return filesInDoubt({ log, fold }, directory).map(({ path }) => path);
  };
  const declared = (status: 'done' | 'reading', second: number) => {
    const files = new Map([['half.ts', { status, step: null, at: Date.parse(at(second)) }]]);
    return { ...newWorklog(), files };
  };
  expect(pathsAfter(null)).toEqual(['half.ts']);
  expect(pathsAfter('cut_off')).toEqual(['half.ts']);
  expect(pathsAfter('end_turn')).toEqual([]);
  expect(pathsAfter(null, newWorklog(), ...runs('c1', 'make > half.ts', {}, null).slice(1))).toEqual([]);
  expect(pathsAfter(null, declared('done', 60))).toEqual([]);
  expect(pathsAfter(null, declared('reading', 60))).toEqual(['half.ts']);
  expect(pathsAfter(null, declared('done', -60))).toEqual(['half.ts']);
});

function observe(lines: readonly object[]): Observed {
  const fold = new Observed();
  for (const [second, line] of lines.entries()) fold.take({ v: 1, timestamp: at(second), ...line });
  return fold;
}
