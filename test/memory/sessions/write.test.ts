// covers: memory/sessions/write.ts memory/sessions/trial.ts
/** Lines of one call are written together or not at all; what another writer does in between is reported for each of them. */
import { readFileSync } from 'node:fs';
import { beforeEach, expect, test } from '@jest/globals';
import { type WorklogLine, worklogKind } from '../../../memory/fold/rules/kind.js';
import type { Worklog } from '../../../memory/fold/worklog.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { writeOrRefuse, writeTogether } from '../../../memory/sessions/write.js';
import type { StepStatus } from '../../../memory/words.js';
import { memoryScene } from '../scene.js';

let memory: Memory;
let session: OpenSession;

beforeEach(() => {
  memory = memoryScene().open();
  const plan = ['1', '2'].map((step) => worklogKind.line('step_added', { step, title: step }));
  session = memory.lifecycle.begin(memory.workspace, { purpose: 'x', fields: {}, plan, concurrent: false });
});

const move = (step: string, to: StepStatus) => worklogKind.line('step', { step, to });
const statuses = () => [...session.log.state.steps.values()].map(({ status }) => status);
const bytes = () => readFileSync(session.log.path, 'utf8');

test.each<[string, readonly WorklogLine[]]>([
  ['the last of several lines', [move('1', 'in_progress'), move('2', 'completed')]],
  ['the first of several lines', [move('2', 'completed'), move('1', 'in_progress')]],
  ['a line because of the one before it', [move('1', 'cancelled'), move('1', 'in_progress')]],
])('if %s is refused, none is written', (_, lines) => {
  const before = bytes();
  expect(() => writeTogether(session, memory.stamp, () => lines)).toThrow(/cannot become/);
  expect(bytes()).toBe(before);
  expect(statuses()).toEqual(['pending', 'pending']);
  expect(session.log.state.refused).toBe(0);
});

test('lines that are only tried change nothing of the state, whatever they would change', () => {
  const file = (path: string) => ({ created: [path], modified: [], deleted: [] });
  const all: readonly WorklogLine[] = [
    worklogKind.line('step', { step: '1', to: 'in_progress', agent: 'a', paths: ['b.ts'], files: file('a.ts') }),
    worklogKind.line('error', { type: 'runtime', message: 'm', step: '1' }),
    worklogKind.line('tokens', { input: 1, step: '1' }),
    worklogKind.line('step', { step: '1', to: 'completed', output: 'o', context: { warnings: ['w'] } }),
    worklogKind.line('step', { step: '1', to: 'completed', context: { warnings: ['v'] }, files: file('c.ts') }),
    worklogKind.line('step_added', { step: '3', title: '3' }),
    worklogKind.line('note', { text: 'n' }),
    worklogKind.line('checkpoint', { name: 'c', head: null, branch: null, dirty_digest: null, dirty: 0 }),
  ];
  for (let written = 0; written < all.length; written += 1) {
    const before = structuredClone(session.log.state);
    const refused = [...all.slice(written), worklogKind.line('step', { step: '1', to: 'pending' })];
    expect(() => writeTogether(session, memory.stamp, () => refused)).toThrow(/cannot become/);
    expect(session.log.state).toEqual(before);
    writeOrRefuse(session, memory.stamp, () => all.slice(written, written + 1));
  }
});

test('a line is legal because of the one before it', () => {
  const lines = [move('1', 'in_progress'), move('1', 'completed'), move('2', 'in_progress')];
  expect(writeTogether(session, memory.stamp, () => lines)).toEqual([null, null, null]);
  expect(statuses()).toEqual(['completed', 'in_progress']);
});

test('tokens of a step that there is not are refused', () => {
  const tokens = worklogKind.line('tokens', { input: 1, step: '3' });
  expect(() => writeOrRefuse(session, memory.stamp, () => [tokens])).toThrow('there is no step "3" (known: 1, 2)');
});

test('a single line that is refused is written and counted', () => {
  expect(() => writeOrRefuse(session, memory.stamp, () => [move('1', 'completed')])).toThrow(/cannot become/);
  expect(session.log.state.refused).toBe(1);
});

test('what another writer changes in between is refused line by line, and the other lines hold', () => {
  const lines = [move('1', 'in_progress'), move('2', 'in_progress')];
  const decide = (state: Worklog) => {
    // The last moment before the lines are written.
    const cancelled = [move('1', 'cancelled')];
    if (state.steps.get('1')?.status === 'pending')
      memory.sessions.withSession(session.id, ({ log }) => log.write(() => cancelled, memory.stamp));
    return lines;
  };
  expect(writeTogether(session, memory.stamp, decide)).toMatchObject([{ code: 'illegal_move' }, null]);
  expect(statuses()).toEqual(['cancelled', 'in_progress']);
});
