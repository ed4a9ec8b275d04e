// covers: bridge/mcp/server.ts bridge/mcp/serving.ts bridge/mcp/program.ts bridge/mcp/caller.ts bridge/mcp/calls.ts
/** The server as its clients meet it. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { INSTRUCTIONS } from '../../../bridge/mcp/opening.js';
import { compiledProgram } from '../../../src/host/program.js';
import { call, McpScene, NEWEST, OLDER } from './mcpScene.js';

describe.each([OLDER, NEWEST] as const)('a client of %s', (revision) => {
  test('learns how the work is, and keeps a note as an agent', async () => {
    const scene = new McpScene();
    const client = await scene.connect(revision);
    expect(client.getInstructions()).toBe(INSTRUCTIONS);
    const none = await call(client, 'get_session_status');
    expect(none).toMatchObject({ isError: false, value: { exists: false, workspace: scene.directory } });
    const id = await scene.begin('Fix the login');
    expect(await call(client, 'add_note', { text: 'the API wants UTC' })).toMatchObject({
      isError: false,
      value: { session_id: id, priority: 'normal' },
    });
    const { value, text } = await call(client, 'get_session_status');
    expect(value).toMatchObject({
      exists: true,
      session_id: id,
      purpose: 'Fix the login',
      lifecycle: 'planned',
      liveness: 'none',
      unresolved_errors: [],
      next: [{ step: '1', title: 'a' }],
    });
    expect(JSON.parse(text)).toEqual(value);
    expect(scene.lines(id).at(-1)).toMatchObject({ event: 'note', origin: 'agent', text: 'the API wants UTC' });
  });
});

test('a shell gets the same from `--call`', async () => {
  const scene = new McpScene();
  const client = await scene.connect(NEWEST);
  await scene.begin('Fix the login');
  for (const [name, input] of [
    ['get_session_status', {}],
    ['list_sessions', { here: true }],
    ['add_note', { text: 'a', priority: 'urgent' }],
    ['add_note', { txt: 'a' }],
    ['checkpoint', { drop: 'a' }],
  ] as const) {
    const { value, isError } = await call(client, name, input);
    const { status, stdout } = spawnSync(
      process.execPath,
      [compiledProgram('bridge/cli/main'), 'mcp', '--call', name],
      {
        ...{ cwd: scene.directory, env: scene.environment, encoding: 'utf8', input: JSON.stringify(input) },
      },
    );
    expect([name, JSON.parse(stdout)]).toEqual([name, value]);
    expect(status !== 0).toBe(isError);
  }
});

test('every tool does its work: a plan of two phases, from its check to the archive', async () => {
  const scene = new McpScene();
  const client = await scene.connect(NEWEST);
  const phases = [
    { id: 1, name: 'Find the cause', agents: ['coder'], files: ['a.ts'] },
    { id: '2', name: 'Test it', agents: ['tester'], blocked_by: [1] },
  ];
  const done = async (name: string, args: Record<string, unknown> = {}) => {
    const { value, isError } = await call(client, name, args);
    expect([name, isError, value]).toEqual([name, false, value]);
    return value;
  };
  expect(await done('validate_plan', { phases })).toMatchObject({ valid: true, order: ['1', '2'] });
  const { session_id } = await done('create_session', { task: 'Fix the login', phases });
  expect(await done('transition_phase', { next_phase_id: 1, agent: 'coder' })).toMatchObject({ started: ['1'] });
  expect(await done('record_error', { message: 'no key', step: 1 })).toMatchObject({
    session_id,
    unresolved_errors: 1,
  });
  expect(await done('get_session_status')).toMatchObject({
    holders: [{ phase: '1', agent: 'coder', holder: { process: { pid: process.pid } }, alive: true }],
    unresolved_errors: [{ message: 'no key', step: '1', type: 'runtime' }],
  });
  expect(await done('record_tokens', { agent: 'coder', input: 5, step: 1 })).toMatchObject({ declared: { input: 5 } });
  expect(await done('checkpoint', { name: 'a' })).toMatchObject({ name: 'a' });
  expect(await done('checkpoint', { list: true })).toMatchObject({ checkpoints: [{ name: 'a' }] });
  expect(await done('update_session', { role: 'lead' })).toEqual({ session_id, updated_fields: ['role'] });
  expect(await done('resume_session', { session_id })).toMatchObject({ position: { current: '1' } });
  expect(await done('add_note', { text: 'mind the clock' })).toMatchObject({ session_id });
  expect(await done('list_sessions', { here: true })).toMatchObject({ sessions: [{ session_id }] });
  const moved = await done('transition_phase', {
    ...{ completed_phase_id: 1, files_created: ['a.ts'], no_context_reason: 'none is needed', next_phase_id: 2 },
  });
  expect(moved).toMatchObject({ completed: ['1'], started: ['2'], unseen: [{ phase: '1', path: 'a.ts' }] });
  expect(await done('archive_session', { as: 'cancelled' })).toMatchObject({ session_id, verified: true });
});

test.each([
  ['an unknown key', 'add_note', { txt: 'a' }, { code: 'usage', message: expect.stringContaining('"txt"') }],
  ['a wrong type', 'add_note', { text: 7 }, { code: 'usage', message: expect.stringMatching(/^text: /) }],
  [
    'a wrong type within a list',
    'validate_plan',
    { phases: [{ id: true, name: 'a' }] },
    { code: 'usage', message: expect.stringMatching(/^phases\.0\.id: /) },
  ],
  [
    'a key too many within a list',
    'create_session',
    { task: 'T', phases: [{ id: 1, name: 'a', file: 'b' }] },
    { code: 'usage', message: expect.stringContaining('"file"') },
  ],
  ['a tool that there is not', 'add_nte', {}, { code: 'usage', message: expect.stringContaining('"add_note"') }],
  ['a number as the session', 'add_note', { text: 'a', session_id: 7 }, { code: 'usage' }],
  ['the name that a verb has for it', 'add_note', { text: 'a', session: 'b' }, { code: 'usage' }],
  ['a faulty plan', 'create_session', { task: 'T', phases: [] }, { code: 'invalid_plan' }],
  ['a phase that there is not', 'transition_phase', { next_phase_id: 9 }, { legal_next: [{ phase: '1' }] }],
])('%s is answered as an error that names it, and nothing is stored', async (_, name, args, error) => {
  const scene = new McpScene();
  const id = await scene.begin('T');
  const client = await scene.connect(OLDER);
  const before = scene.lines(id).length;
  expect(await call(client, name, args)).toMatchObject({ isError: true, value: error });
  // An illegal move of a phase is counted.
  expect(scene.lines(id).length).toBe(name === 'transition_phase' ? before + 1 : before);
  expect(scene.sessions()).toEqual([id]);
});

test('several sessions may be meant: they are listed', async () => {
  const scene = new McpScene();
  const ids = [];
  for (const name of ['A', 'B']) ids.push((await scene.json('track', ['init', name, '--concurrent'])).session_id);
  const client = await scene.connect(NEWEST);
  const { value, isError } = await call(client, 'add_note', { text: 'a' });
  expect(isError).toBe(true);
  expect(value).toMatchObject({ code: 'usage', more: 0 });
  const idsIn = (list: unknown) => (list as { session_id: string }[]).map(({ session_id }) => session_id).sort();
  expect(idsIn(value.candidates)).toEqual(ids);
  const status = await call(client, 'get_session_status');
  expect(status).toMatchObject({ isError: false, value: { exists: false } });
  expect(idsIn(status.value.unfinished_here)).toEqual(ids);
});

test('secrets leave in no answer', async () => {
  const scene = new McpScene();
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const client = await scene.connect(NEWEST, { TELEGRAM_BOT_TOKEN: '123456:own-secret-of-this-bridge' });
  await scene.begin('T');
  for (const [name, args] of [
    ['add_note', { text: 'a', session_id: secret }],
    ['checkpoint', { name: `before ${secret}` }],
    ['checkpoint', { name: '123456:own-secret-of-this-bridge' }],
    ['get_session_status', {}],
  ] as const) {
    const { value, text } = await call(client, name, args);
    expect(JSON.stringify(value) + text).not.toMatch(/ghp_a1B2|own-secret/);
  }
});
