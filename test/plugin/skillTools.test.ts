/** The skills that name tools: each tool, field, value and code is one that there is, and each example is taken as it stands. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { callTool } from '../../bridge/mcp/callTool.js';
import { listTools } from '../../bridge/mcp/listing.js';
import { TOOLS } from '../../bridge/mcp/tools.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { packageRoot } from '../../src/host/program.js';
import { WorkScene } from '../bridge/cli/work/scene.js';
import { hook, payload } from '../bridge/hook/hookScene.js';

const SKILLS = join(packageRoot(), 'plugin/skills');
const WITH_TOOLS = ['orchestrate', 'resume', 'session-management'];
/** Not of a tool: places for words of the reader, and the server. */
const OTHER_WORDS = ['ID', 'watchkeeper'];

const textOf = (skill: string) => readFileSync(join(SKILLS, skill, 'SKILL.md'), 'utf8');

/** A directory, and a caller who is an agent. */
class ToolScene extends WorkScene {
  call(name: string, args: object, variables: Readonly<Record<string, string>> = {}) {
    return callTool(name, args, {
      surroundings: {
        directory: this.directory,
        process: readProcessIdentity('host'),
        variables: { WATCHKEEPER_HOME: this.home, PATH: process.env.PATH ?? '', CLAUDECODE: '1', ...variables },
      },
      folder: null,
      redact: (text) => text,
      startDetached: () => undefined,
    });
  }
}

/** @returns the examples of a skill, in their order: a block of JSON whose first line names the tool */
function examplesIn(text: string): { readonly tool: string; readonly args: object }[] {
  return [...text.matchAll(/^ *```json (\w+)\n([\s\S]*?)```/gm)].map(([, tool = '', json = '']) => ({
    tool,
    args: JSON.parse(json),
  }));
}

/** @returns the words in code spans that can be a tool, a field, a value or a code */
function wordsIn(text: string): string[] {
  const spans = [...text.replace(/^ *```[\s\S]*?```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  const words = spans.flatMap((span) => {
    const [, one, name, value] = /^(?:([A-Za-z_]+)|"?([a-z_]+)"?: "?([a-z_]+)"?)$/.exec(span) ?? [];
    return one === undefined ? [name, value] : [one];
  });
  return [...new Set(words.flatMap((word) => word ?? []))];
}

/** @returns the names of members at any depth of a value, and the texts that are single words */
function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return /^\w+$/.test(value) ? [value] : [];
  if (typeof value === 'boolean') return [String(value)];
  if (Array.isArray(value)) return value.flatMap(wordsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...wordsOf(member)]);
}

/** @returns the words that the memory's sources give to a code, a kind of conflict, a branch, or a reason */
function codesInSources(): string[] {
  const folder = join(packageRoot(), 'memory');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return files.flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/\b(?:code|kind|do|why): ('[^,;}\n]*)/g)].flatMap(
      ([, words = '']) => [...words.matchAll(/'(\w+)'/g)].map(([, word = '']) => word),
    ),
  );
}

/** @returns the members of the answers to a plan from its beginning to its archive, with refusals */
async function wordsOfAnswers(): Promise<string[]> {
  const scene = new ToolScene();
  const said: string[] = [];
  const call = async (...asked: Parameters<ToolScene['call']>) => {
    const { value } = await scene.call(...asked);
    said.push(...wordsOf(value));
  };
  const phases = [
    { id: 1, name: 'A', agents: ['a'] },
    { id: 2, name: 'B', agents: ['b'], blocked_by: [1] },
  ];
  await call('validate_plan', { phases });
  await call('create_session', { task: 'T', phases, workflow_mode: 'express' });
  await call('create_session', { task: 'U', phases });
  await call('transition_phase', { next_phase_id: 1, agent: 'a' });
  await call('transition_phase', { next_phase_id: 1, agent: 'b' });
  await call('get_session_status', {});
  await call('transition_phase', { failed_phase_id: 1, error: 'it broke' });
  await call('resume_session', { decision: 'retry' });
  await call('archive_session', {});
  await call('transition_phase', { completed_phase_id: 1, files_created: ['a.ts'], no_context_reason: 'none' });
  await call('transition_phase', { next_phase_id: 2 });
  await call('transition_phase', { completed_phase_id: 2 });
  await call('list_sessions', {});
  await call('create_session', { task: 'V', phases });
  await call('add_note', {});
  await call('archive_session', { as: 'cancelled' });
  await call('create_session', { task: 'next to it', phases, on_active: 'concurrent' });
  const place = { home: scene.home, work: scene.directory };
  await hook(place, payload(place, 'SessionStart', { session_id: 'c-1', source: 'startup' }));
  await call('get_session_status', {}, { CLAUDE_CODE_SESSION_ID: 'c-1' });
  return said;
}

test('the skills that name tools are these', () => {
  const naming = readdirSync(SKILLS).filter((skill) => TOOLS.some(({ name }) => textOf(skill).includes(`\`${name}\``)));
  // Those for handoffs name one tool each, and its fields in the command beside it.
  expect(naming.sort()).toEqual([...WITH_TOOLS, 'handing-over', 'taking-over'].sort());
});

test.each(WITH_TOOLS)('each word of %s in code is of a tool, its input, its answer, or a code', async (skill) => {
  const known = new Set([
    ...OTHER_WORDS,
    ...TOOLS.map(({ name }) => name),
    ...listTools().flatMap(({ inputSchema }) => wordsOf(inputSchema)),
    ...(await wordsOfAnswers()),
    ...codesInSources(),
  ]);
  const words = wordsIn(textOf(skill));
  expect(words.length).toBeGreaterThan(10);
  expect(words.filter((word) => !known.has(word))).toEqual([]);
});

describe.each(['orchestrate', 'session-management'])('the examples of %s', (skill) => {
  const examples = examplesIn(textOf(skill));

  test('are taken one after the other, by strict schemas', async () => {
    const scene = new ToolScene();
    expect(examples.length).toBeGreaterThan(2);
    for (const { tool, args } of examples) {
      const answer = await scene.call(tool, args);
      expect([tool, answer]).toMatchObject([tool, { isError: false }]);
    }
  });

  test('are plans without a fault', async () => {
    const plans = examples.filter(({ tool }) => tool === 'create_session');
    expect(plans).toHaveLength(1);
    for (const { args } of plans) {
      const { phases } = args as { readonly phases?: unknown };
      expect(await new ToolScene().call('validate_plan', { phases })).toMatchObject({ value: { valid: true } });
    }
  });
});

test('the skill of a model has an example of each kind of move', () => {
  const moves = examplesIn(textOf('session-management')).filter(({ tool }) => tool === 'transition_phase');
  const fields = new Set(moves.flatMap(({ args }) => Object.keys(args)));
  expect([...fields]).toEqual(
    expect.arrayContaining(['next_phase_id', 'next_phase_ids', 'completed_phase_id', 'failed_phase_id', 'error']),
  );
});

test.each(WITH_TOOLS)('%s ends with what to take back from a sub-agent', (skill) => {
  const last = textOf(skill).split('\n## ').at(-1) ?? '';
  expect(last).toMatch(/^What to take back from a sub-agent\n/);
  for (const part of [
    'created, modified and deleted',
    'context',
    'validated',
    'errors',
    '`transition_phase`',
    '`agent`',
  ])
    expect(last).toContain(part);
});
