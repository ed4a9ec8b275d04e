/** Faults of the published server of this kind, each as a caller of the tools would meet it. Each test fails if its rule is removed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { archiveSession } from '../../../memory/verbs/archiveSession.js';
import { createSession } from '../../../memory/verbs/createSession.js';
import { recordTokens } from '../../../memory/verbs/records.js';
import { resumeSession } from '../../../memory/verbs/resumeSession.js';
import { sessionStatus } from '../../../memory/verbs/sessionStatus.js';
import { transitionPhase } from '../../../memory/verbs/transitionPhase.js';
import { HOUR, MINUTE, systemClock } from '../../../src/time.js';
import { type Scratch, scratch } from './asked.js';

const PHASES = [
  { id: 1, name: 'Design', agents: ['architect'] },
  { id: 2, name: 'Build', agents: ['coder'], blocked_by: [1] },
  { id: 3, name: 'Test', agents: ['tester'], blocked_by: [2] },
];
const CONVERSATION = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11';

let now = 0;
let scene: Scratch;
let session_id = '';
const move = (given: object) => scene.asked(transitionPhase, { session: session_id, ...given });
const status = () => scene.asked(sessionStatus, { session: session_id });
const statuses = () => [...scene.memory().which(session_id).log.state.steps.values()].map((step) => step.status);

beforeEach(async () => {
  now = Date.now();
  scene = scratch({ clock: { ...systemClock, now: () => now } });
  ({ session_id } = await scene.asked(createSession, { task: 'Ship it', phases: PHASES }));
});

test('a pending phase does not become completed', async () => {
  expect(await move({ completed_phase_id: 1 })).toMatchObject({
    ...{ code: 'illegal_move', legal_moves: { 1: ['in_progress', 'skipped', 'cancelled'] } },
    legal_next: [{ phase: '1' }],
  });
  expect(statuses()).toEqual(['pending', 'pending', 'pending']);
});

test('a next id does not reopen a completed phase', async () => {
  await move({ next_phase_id: 1 });
  await move({ completed_phase_id: 1, next_phase_id: 2 });
  expect(await move({ completed_phase_id: 2, next_phase_id: 1 })).toMatchObject({ code: 'illegal_move' });
  expect(await move({ next_phase_ids: [1] })).toMatchObject({ code: 'illegal_move' });
  expect(statuses()).toEqual(['completed', 'in_progress', 'pending']);
});

test('blockers are not ignored, by no way to a start', async () => {
  expect(await move({ next_phase_id: 2 })).toMatchObject({ code: 'blocked' });
  await move({ next_phase_id: 1 });
  expect(await move({ completed_phase_id: 1, next_phase_ids: [2, 3] })).toMatchObject({ code: 'blocked' });
  expect(await scene.asked(resumeSession, { decision: 'retry', phase_id: 3 })).toMatchObject({ code: 'blocked' });
  expect(statuses()).toEqual(['in_progress', 'pending', 'pending']);
});

test('a manifest is not replaced by the next one', async () => {
  await move({ next_phase_id: 1 });
  await move({ completed_phase_id: 1, files_created: ['a.ts'], downstream_context: { warnings: ['slow'] } });
  await move({ completed_phase_id: 1, files_created: ['b.ts'], downstream_context: { warnings: ['old'] } });
  expect((await status()).steps).toMatchObject([
    { files: { created: ['a.ts', 'b.ts'] }, context: { warnings: ['slow', 'old'] } },
    ...[{}, {}],
  ]);
});

test('tokens by agent are written, and their sum is the total', async () => {
  await move({ next_phase_id: 1 });
  await move({ completed_phase_id: 1, token_usage: { agent: 'architect', input: 5, output: 2 } });
  await scene.asked(recordTokens, { agent: 'coder', input: 7, output: 1, cached: 3, step: 2 });
  expect((await status()).tokens).toMatchObject({
    total: { input: 12, output: 3, cached: 3 },
    by_agent: { architect: { input: 5, output: 2 }, coder: { input: 7, output: 1, cached: 3 } },
  });
});

test.each([
  ['one that there is not', () => '2026-01-01-other'],
  ['the beginning of one', () => session_id.slice(0, -1)],
  ['its day', () => session_id.slice(0, 10)],
  ['its end', () => session_id.slice(-7)],
])('another id is not answered: %s', async (_, id) => {
  const exact = scene.exactly({ session: id() });
  for (const verb of [sessionStatus, resumeSession, archiveSession])
    expect((await exact(verb)).message).toContain(`there is no session "${id()}"`);
  expect(await exact(transitionPhase, { next_phase_id: 1 })).toMatchObject({ code: 'usage' });
  expect(statuses()).toEqual(['pending', 'pending', 'pending']);
});

test('faulty plans are not accepted', async () => {
  const other = scratch();
  const plans: [string, object[]][] = [
    ['no_phases', []],
    ['duplicate_id', [PHASES[0], { id: '1', name: 'again' }] as object[]],
    ['unknown_blocker', [{ id: 1, name: 'a', blocked_by: [9] }]],
    ['own_blocker', [{ id: 1, name: 'a', blocked_by: [1] }]],
    [
      'cycle',
      [
        { id: 1, name: 'a', blocked_by: [2] },
        { id: 2, name: 'b', blocked_by: [1] },
      ],
    ],
    [
      'file_conflict',
      [
        { id: 1, name: 'a', parallel: true, files: ['x'] },
        { id: 2, name: 'b', parallel: true, files: ['./x'] },
      ],
    ],
  ];
  for (const [rule, phases] of plans) {
    const answer = await other.asked(createSession, { task: 'T', phases });
    expect([rule, answer.code, answer.violations.map((one) => one.rule)]).toEqual([rule, 'invalid_plan', [rule]]);
  }
  expect(other.memory().sessions.ids()).toEqual([]);
});

describe('an archive', () => {
  test('is not overwritten', async () => {
    const place = join(scene.home, 'archive', session_id.slice(0, 4), session_id);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'worklog.jsonl'), 'of another\n');
    expect(await scene.asked(archiveSession, { as: 'cancelled' })).toMatchObject({
      ...{ code: 'unreachable', message: expect.stringContaining('something else is there') },
    });
    expect(readFileSync(join(place, 'worklog.jsonl'), 'utf8')).toBe('of another\n');
  });

  test('is not stamped completed with open work, by no way to an end', async () => {
    await move({ next_phase_id: 1 });
    expect(await scene.asked(archiveSession, {})).toMatchObject({ code: 'open_phases', open: ['1', '2', '3'] });
    expect(scene.memory().which(session_id).log.state).toMatchObject({ lifecycle: 'active', archived: null });
    await scene.asked(createSession, { task: 'Next', phases: PHASES, on_active: 'archive' });
    expect(scene.memory().which(session_id).log.state.end?.reason).toBe('cancelled');
  });
});

test('a sub-agent of three hours is not forgotten, and has ended when it has', async () => {
  const user = join(dirname(scene.home), 'user');
  const folder = join(user, '.claude/projects/-work');
  mkdirSync(folder, { recursive: true });
  const variables = { HOME: user };
  const began = now;
  const records = { main: [] as object[], helper: [] as object[] };
  const record = (file: keyof typeof records, type: string, content: unknown, more: object = {}) => {
    records[file].push({
      ...{ type, sessionId: CONVERSATION, uuid: `${file}-${records[file].length}`, cwd: scene.directory },
      ...{ timestamp: new Date(now).toISOString(), message: { role: type, content, ...more } },
      ...(file === 'helper' && { isSidechain: true, agentId: 'helper' }),
    });
    const name = file === 'main' ? CONVERSATION : 'agent-helper';
    writeFileSync(join(folder, `${name}.jsonl`), records[file].map((one) => `${JSON.stringify(one)}\n`).join(''));
  };
  const agents = async () => {
    const memory = scene.memory('agent', variables);
    return (
      (await sessionStatus.run(memory, { session: session_id }, { judge: async () => null } as never)).value as {
        agents?: { id: string; open: boolean }[];
      }
    ).agents;
  };
  scene
    .memory()
    .which(session_id)
    .log.write(
      () => [
        worklogKind.line('conversation', {
          provider: 'claude',
          conversation: CONVERSATION,
          source: 'bind',
          since: null,
        }),
      ],
      scene.memory().stamp,
    );
  record('main', 'user', 'go');
  record('main', 'assistant', [{ type: 'tool_use', id: 'toolu_1', name: 'Agent', input: { prompt: 'build' } }]);
  record('helper', 'user', 'build');
  for (const [index, at] of [MINUTE, 2 * HOUR + MINUTE, 3 * HOUR].entries()) {
    now = began + at;
    record('helper', 'assistant', [
      { type: 'tool_use', id: `toolu_x${index}`, name: 'Bash', input: { command: 'make' } },
    ]);
    now += 30 * MINUTE;
    expect([at, await agents()]).toEqual([at, [expect.objectContaining({ id: 'helper', open: true })]]);
    record('helper', 'user', [{ type: 'tool_result', tool_use_id: `toolu_x${index}`, content: 'ok' }]);
  }
  record('helper', 'assistant', [{ type: 'text', text: 'Built.' }], { stop_reason: 'end_turn' });
  record('main', 'user', [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Built.' }]);
  expect(await agents()).toEqual([expect.objectContaining({ id: 'helper', open: false })]);
});
