// covers: memory/workspaces/removed.ts bridge/mcp/callTool.ts bridge/verbs/askVerb.ts
/**
 * What bad input gets, kind by kind. In each case the answer names what is wrong, and nothing is half stored. Clients that close, or send
 * half a message, garbage or 50 MB, are in `ending.test.ts`; records of a newer version in `outdated.test.ts`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { callTool, type ToolAnswer } from '../../../bridge/mcp/callTool.js';
import { TOOLS } from '../../../bridge/mcp/tools.js';
import type { Surroundings } from '../../../memory/sessions/surroundings.js';
import { createSession } from '../../../memory/verbs/createSession.js';
import { compiledProgram } from '../../../src/host/program.js';
import { redactShapes } from '../../../src/log/redact.js';
import { type Scratch, scratch } from '../../memory/verbs/asked.js';
import { call, McpScene, OLDER } from './mcpScene.js';

const NOBODY = 65_534;
const PHASE = { id: 1, name: 'Paint', agents: ['painter'] };
const PLAN = { task: 'T', phases: [PHASE] };
const NEEDED: Readonly<Record<string, object>> = {
  create_session: PLAN,
  validate_plan: { phases: [PHASE] },
  initialize_workspace: { workspace_path: '.' },
  record_error: { message: 'a' },
  add_note: { text: 'a' },
};

const MOVES: Readonly<Record<string, object>> = {
  update_session: { role: 'lead' },
  transition_phase: { next_phase_id: 1 },
  checkpoint: { name: 'a' },
};

let scene: Scratch;
let surroundings: Surroundings;

beforeEach(() => {
  scene = scratch();
  ({ surroundings } = scene.memory());
});

function tool(name: string, args: unknown = {}): Promise<ToolAnswer> {
  const caller = { surroundings, folder: null, redact: redactShapes, startDetached: () => undefined };
  return callTool(name, args, caller);
}

/** @returns every file below the home, by its path, with its content */
function filesIn(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

async function refused(name: string, args: unknown, words: RegExp | string, code = 'usage'): Promise<void> {
  const before = filesIn(scene.home);
  const { value, isError } = await tool(name, args);
  expect([name, isError, value.code]).toEqual([name, true, code]);
  expect(value.message).toEqual(
    typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words),
  );
  expect(filesIn(scene.home)).toEqual(before);
}

describe('an unknown key, or a wrong type, is named by', () => {
  test.each(TOOLS.map(({ name, verb }) => [name, Object.keys(verb.fields)] as const))('%s', async (name, fields) => {
    const needed = NEEDED[name] ?? {};
    await refused(name, { ...needed, constructr: 1 }, '"constructr"');
    for (const field of fields) await refused(name, { ...needed, [field]: { a: 1 } }, new RegExp(`^${field}`));
  });
  test.each([
    ['no object', 'add_note', [1], 'an object'],
    ['a text', 'add_note', 'a', 'an object'],
    ['a phase', 'validate_plan', { phases: ['a'] }, 'phases.0'],
    ['a file of a phase', 'validate_plan', { phases: [{ ...PHASE, files: [1] }] }, 'phases.0.files.0'],
    ['a key of a context', 'transition_phase', { downstream_context: { warning: [] } }, '"warning"'],
    ['an id', 'transition_phase', { next_phase_id: 1.5 }, 'next_phase_id'],
    ['an id that no text is', 'transition_phase', { next_phase_ids: [1e21] }, 'next_phase_ids.0'],
    ['tokens', 'record_tokens', { input: -1 }, 'input'],
  ])('its place: %s', async (_, name, args, words) => refused(name, args, words));
});

describe('a plan', () => {
  const phases = (count: number) => Array.from({ length: count }, (_, id) => ({ id, name: 'a' }));
  const files = Array.from({ length: 5_000 }, (_, index) => `${index}.ts`);

  test('of 501 phases, or with a phase of 5,000 files, is refused with the limit', async () => {
    await refused('create_session', { task: 'T', phases: phases(501) }, 'at most 500', 'invalid_plan');
    const many = { task: 'T', phases: [{ ...PHASE, files }] };
    await refused('create_session', many, 'at most 2000', 'invalid_plan');
    expect((await tool('validate_plan', { phases: phases(500) })).value).toMatchObject({ valid: true });
  });

  test('that begins, and a phase that completes with 5,000 files', async () => {
    await tool('create_session', PLAN);
    await tool('transition_phase', { next_phase_id: 1 });
    const done = { completed_phase_id: 1, files_created: files, no_context_reason: 'r' };
    await refused('transition_phase', done, 'at most 2000');
  });
});

test.each<[string, string, string]>([
  ['an absolute path', '/tmp/x', 'relative'],
  ['..', '../x', '".."'],
  ['.. inside', 'a/../../x', '".."'],
  ['a link out', 'out/x', 'link that leads out'],
  ['a link to nothing', 'nowhere', 'link that leads out'],
  ['nothing', '', 'name something'],
  ['two lines', 'a\nb', 'one line'],
  ["git's folder", '.git/x', "git's own"],
])('a state_dir that is %s is refused, and nothing is made', async (_, state_dir, words) => {
  symlinkSync(dirname(scene.directory), join(scene.directory, 'out'));
  symlinkSync('/nowhere/at/all', join(scene.directory, 'nowhere'));
  const before = readdirSync(dirname(scene.directory));
  await refused('initialize_workspace', { workspace_path: scene.directory, state_dir }, words, 'outside');
  expect(readdirSync(dirname(scene.directory))).toEqual(before);
  expect(readdirSync(scene.directory)).toEqual(['nowhere', 'out']);
});

test.each(['a/b', '../a', 'a\nb', '/'])('the session id %j is refused', async (session_id) => {
  await refused('create_session', { ...PLAN, session_id }, 'one line without "/"');
  await refused('get_session_status', { session_id }, 'there is no session');
});

test.each<[string, (path: string) => void, string]>([
  ['is not there', () => undefined, 'cannot be read'],
  ['is a pipe', (path) => execFileSync('mkfifo', [path]), 'not a file'],
  ['is a folder', (path) => mkdirSync(path), 'not a file'],
])('a document that %s is said, and the session begins', async (_, make, words) => {
  make(join(scene.directory, 'plan.md'));
  const { value, isError } = await tool('create_session', { ...PLAN, implementation_plan: 'plan.md' });
  expect([isError, value.warnings]).toEqual([false, [expect.stringContaining(words)]]);
  await refused('update_session', { implementation_plan: 'plan.md' }, words);
});

describe('a place that cannot be used is said, and never "no session"', () => {
  test('a removed folder of a session, and of a server', async () => {
    const server = new McpScene();
    const client = await server.connect(OLDER);
    rmSync(server.directory, { recursive: true });
    for (const [name, args] of [
      ['get_session_status', {}],
      ['create_session', PLAN],
      ['create_session', { ...PLAN, session_id: 'x' }],
      ['transition_phase', { next_phase_id: 1 }],
      ['resume_session', {}],
      ['add_note', { text: 'a' }],
    ] as const)
      expect(await call(client, name, args)).toMatchObject({
        ...{ isError: true, value: { code: 'usage', message: expect.stringContaining('does not exist any more') } },
      });
    expect(await call(client, 'list_sessions', { all: true })).toMatchObject({ isError: false });
    expect(server.sessions()).toEqual([]);
    // It is made again, perhaps by git.
    mkdirSync(server.directory);
    const { session_id } = (await call(client, 'create_session', PLAN)).value;
    rmSync(server.directory, { recursive: true });
    expect((await call(client, 'get_session_status')).value).toMatchObject({ exists: true, session_id });
    expect((await call(client, 'transition_phase', { next_phase_id: 1 })).value).toMatchObject({ started: ['1'] });
    expect((await call(client, 'archive_session', { as: 'cancelled' })).isError).toBe(false);
  });

  test.each<[string, (home: string) => void]>([
    ['a file in the place of the home', (home) => writeFileSync(home, '')],
    ['a home that others can write', (home) => chmodSync(mkdirSync(home, { recursive: true }) ?? home, 0o777)],
  ])('%s', async (_, make) => {
    make(scene.home);
    for (const [name, args] of [
      ['get_session_status', {}],
      ['create_session', PLAN],
    ] as const)
      expect(await tool(name, args)).toMatchObject({
        value: { code: 'unreachable', message: expect.stringContaining(scene.home) },
      });
  });

  test.each(['get_session_status', 'resume_session', 'transition_phase', 'create_session', 'add_note'])(
    'a log that is a folder, by %s',
    async (name) => {
      const { session_id } = (await tool('create_session', PLAN)).value;
      const log = join(scene.home, 'sessions', String(session_id), 'worklog.jsonl');
      rmSync(log);
      mkdirSync(log);
      const args = { create_session: PLAN, add_note: { text: 'a' }, transition_phase: { next_phase_id: 1 } };
      const { value } = await tool(name, args[name as keyof typeof args] ?? {});
      expect(value).toMatchObject({ code: 'unreachable', message: expect.stringContaining(log) });
      // Said once.
      expect(value).not.toHaveProperty('asides');
    },
  );

  // The superuser may read everything, so another one calls.
  test('a log, and a home, that may not be read or written', async () => {
    const top = dirname(scene.directory);
    const { session_id } = (await tool('create_session', PLAN)).value;
    const isRoot = process.getuid?.() === 0;
    if (isRoot) for (const path of [top, ...foldersAndFiles(top)]) chownSync(path, NOBODY, NOBODY);
    const env = { PATH: process.env.PATH, HOME: top, WATCHKEEPER_HOME: scene.home };
    const asked = (name: string, input: object = {}) => {
      const { stdout } = spawnSync(process.execPath, [compiledProgram('bridge/cli/main'), 'mcp', '--call', name], {
        ...{ cwd: scene.directory, env, encoding: 'utf8', input: JSON.stringify(input) },
        ...(isRoot && { uid: NOBODY, gid: NOBODY }),
      });
      return JSON.parse(stdout);
    };
    expect(asked('get_session_status')).toMatchObject({ exists: true, session_id });
    const log = join(scene.home, 'sessions', String(session_id), 'worklog.jsonl');
    for (const [path, mode, words] of [
      [log, 0o000, log],
      [join(scene.home, 'sessions'), 0o000, 'sessions'],
      [scene.home, 0o000, scene.home],
      [scene.home, 0o500, scene.home],
    ] as const) {
      const before = mode === 0o500 || path !== log ? 0o700 : 0o600;
      chmodSync(path, mode);
      const status = asked('get_session_status');
      const created = asked('create_session', { ...PLAN, on_active: 'concurrent' });
      chmodSync(path, before);
      const unreachable = { code: 'unreachable', message: expect.stringContaining(words) };
      if (mode === 0o000) expect([path, status]).toEqual([path, expect.objectContaining(unreachable)]);
      // Next to a session that cannot be read, another one can begin.
      if (path !== log && mode === 0o000) expect([path, created]).toEqual([path, expect.objectContaining(unreachable)]);
    }
  });
});

/** @returns all that is below a folder */
function foldersAndFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
}

test('a secret is in no answer and in no file: of names, paths, outputs, errors, contexts and decisions', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  await tool('initialize_workspace', { workspace_path: scene.directory, state_dir: 'docs' });
  const told = `see ${secret}`;
  const calls: [string, object][] = [
    ['validate_plan', { phases: [{ id: told, name: told, files: [secret], agents: [secret] }] }],
    ['create_session', { task: told, phases: [{ id: 1, name: told, files: [`src/${secret}`], agents: [secret] }] }],
    ['transition_phase', { next_phase_id: secret }],
    ['transition_phase', { next_phase_id: 1, agent: secret }],
    ['record_error', { message: told, step: 1, agent: secret, resolution: told }],
    ['record_tokens', { agent: secret, input: 5, step: 1 }],
    ['transition_phase', { failed_phase_id: 1, error: { type: 'runtime', message: told }, reason: told }],
    ['resume_session', { decision: 'adjust', execution_mode: secret }],
    ['update_session', { purpose: told, name: secret, role: told }],
    ['add_note', { text: told }],
    ['get_session_status', {}],
    ['resume_session', {}],
    [
      'transition_phase',
      {
        ...{ completed_phase_id: 1, output: told, files_created: [`${secret}.ts`], files_deleted: [secret] },
        ...{ downstream_context: { warnings: [told] }, validation: { passed: true, details: told } },
      },
    ],
  ];
  for (const [name, args] of calls) {
    const { value } = await tool(name, args);
    expect([name, JSON.stringify(value)]).toEqual([name, expect.not.stringContaining(secret)]);
  }
  for (const [path, text] of Object.entries({ ...filesIn(scene.home), ...filesIn(scene.directory) }))
    expect([path, text.includes(secret)]).toEqual([path, false]);
});

test('another session than the named one never answers', async () => {
  const { session_id } = await scene.asked(createSession, PLAN);
  for (const { name } of TOOLS) {
    if (['validate_plan', 'create_session', 'initialize_workspace', 'list_sessions'].includes(name)) continue;
    await refused(name, { ...NEEDED[name], ...MOVES[name], session_id: 'elsewhere' }, 'elsewhere');
    // A part of its id names it for a person; a program that gives one may mean another.
    const part = { ...NEEDED[name], ...MOVES[name], session_id: session_id.slice(0, 10) };
    await refused(name, part, `did you mean "${session_id}"?`);
  }
});
