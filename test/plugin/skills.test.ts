/** What the plugin brings: hooks, and skills that name only commands that exist. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/host/program.js';
import { watchkeeperAgain } from '../bridge/cli/manyCalls.js';
import { testFolder } from '../harness/folder.js';

const PLUGIN = join(packageRoot(), 'plugin');
const SKILLS = readdirSync(join(PLUGIN, 'skills')).sort();
const OF_PERSONS = [
  ...['ending-session', 'ending-worktree', 'orchestrate', 'resume', 'resuming-session'],
  ...['starting-session', 'starting-worktree'],
];

/** Of each command. */
const helps = new Map<string, string>();

const read = (path: string) => readFileSync(join(PLUGIN, path), 'utf8');
const textOf = (skill: string) => read(`skills/${skill}/SKILL.md`);

describe('hooks.json', () => {
  const { hooks } = JSON.parse(read('hooks/hooks.json')) as { hooks: Record<string, { hooks: object[] }[]> };

  // rule: no-hook-per-call
  test('has four hooks, all of the same program, and none per call', () => {
    const one = (event: string, more: object) => [
      { hooks: [{ type: 'command', command: `exec "\${CLAUDE_PLUGIN_ROOT}/hooks/run" ${event}`, ...more }] },
    ];
    expect(hooks).toEqual({
      SessionStart: one('SessionStart', { timeout: 5 }),
      SubagentStart: one('SubagentStart', { timeout: 5 }),
      PermissionRequest: one('PermissionRequest', { timeout: 5, async: true }),
      SessionEnd: one('SessionEnd', { timeout: 3 }),
    });
  });

  test.each(['hooks/run', 'bin/watchkeeper'])('%s can be executed', (path) => {
    expect(statSync(join(PLUGIN, path)).mode & 0o111).toBe(0o111);
  });
});

test('the plugin has one version, that of the package, and the marketplace names its folder', () => {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
  expect(JSON.parse(read('.claude-plugin/plugin.json'))).toMatchObject({ name: 'watchkeeper', version });
  const marketplace = JSON.parse(readFileSync(join(packageRoot(), '.claude-plugin/marketplace.json'), 'utf8'));
  expect(marketplace.plugins).toMatchObject([{ name: 'watchkeeper', source: './plugin' }]);
});

test('the skills have the names that people look for', () => {
  const ofModels = [
    ...['bookmarking-code', 'handing-over', 'learning-from-sessions'],
    ...['session-management', 'session-tracker', 'taking-over'],
  ];
  expect(SKILLS).toEqual([...OF_PERSONS, ...ofModels].sort());
});

describe.each(SKILLS)('the skill %s', (skill) => {
  const text = textOf(skill);
  const [, front = ''] = text.split('---\n');

  test('has its name and a description', () => {
    expect(front).toContain(`name: ${skill}\n`);
    expect(front).toMatch(/^description: \S.{20,500}$/m);
  });

  // rule: only-a-person-starts-these-skills
  test('is kept out of the prompt of both agents if only a person starts it', () => {
    const isOfPersons = OF_PERSONS.includes(skill);
    expect(front.includes('disable-model-invocation: true\n')).toBe(isOfPersons);
    const files = readdirSync(join(PLUGIN, 'skills', skill), { recursive: true, encoding: 'utf8' });
    expect(files.includes('agents/openai.yaml')).toBe(isOfPersons);
    if (isOfPersons) expect(read(`skills/${skill}/agents/openai.yaml`)).toContain('allow_implicit_invocation: false');
  });

  test('names only commands and options that exist', () => {
    const lines = [...text.matchAll(/(?<![\w./-])watchkeeper (track|work|worktree|handoff|learn) ([a-z-]+)([^`\n]*)/g)];
    expect(text.match(/(?<![\w./-])watchkeeper (?:track|work|worktree|handoff|learn|mcp) /g)?.length).toBeGreaterThan(
      0,
    );
    for (const [line, command = '', word = '', rest = ''] of lines) {
      const usage = usageOf(command, word);
      expect([line, usage]).not.toEqual([line, null]);
      const options = rest.match(/(?<=\s)--[a-z-]+/g) ?? [];
      const missing = options.filter(
        (option) => option !== '--json' && option !== '--session' && !usage?.includes(option),
      );
      expect([line, missing]).toEqual([line, []]);
    }
  });
});

/** @returns what the help says of a word; null if it does not know it */
function usageOf(command: string, word: string): string | null {
  const help = helpOf(command);
  const parts = help.split(/\n(?= {2}\S)/).filter((part) => new RegExp(`^ {2}${word}\\b`).test(part));
  return parts.length === 0 ? null : parts.join('\n');
}

function helpOf(command: string): string {
  const help = helps.get(command) ?? watchkeeperAgain('/', ['help', command]).out;
  helps.set(command, help);
  return help;
}

/** Runs the lines of all shell blocks of a text, in a repository with a home of its own. */
function runBlocks(text: string, before: readonly string[] = []) {
  const folder = testFolder();
  const lines = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'));
  const run = (line: string) => {
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', line], {
      cwd: folder,
      env: {
        PATH: `${join(packageRoot(), 'bin')}:${process.env.PATH}`,
        HOME: folder,
        WATCHKEEPER_HOME: join(folder, '.home'),
      },
      encoding: 'utf8',
    });
    return { line, status, said: `${stdout}${stderr}` };
  };
  spawnSync('git', ['init', '-q', folder]);
  const ids = before.map(run).flatMap(({ said }) => /session (\S+) begins/.exec(said)?.[1] ?? []);
  return lines.map((line) => run(line.trim().replaceAll(/\bID\b/g, ids[0] ?? 'ID')));
}

const failed = (steps: ReturnType<typeof runBlocks>) => steps.filter(({ status }) => status !== 0);
const BEGUN = ['watchkeeper track init "T" --step "A" --step "B"'];

describe('the commands of a skill, typed as they are,', () => {
  test('work in their order: session-tracker', () => {
    const [workflow = '', afterwards = ''] = textOf('session-tracker').split('## After an interruption');
    const steps = runBlocks(workflow);
    expect(failed(steps)).toEqual([]);
    expect(
      steps.map(({ line }) =>
        line.replace(/^.*watchkeeper track (\S+)( \d)?.*?( --(?:start|done|rename)|$).*/, '$1$3'),
      ),
    ).toEqual([
      ...['crash-detect', 'init', 'step --start', 'file', 'file', 'ping', 'log', 'note'],
      ...['file --rename', 'file --done', 'step --done', 'sync', 'sync', 'done'],
    ]);
    expect(failed(runBlocks(afterwards, BEGUN))).toEqual([]);
  });

  test.each(['resume', 'resuming-session', 'ending-session'])('work on a session: %s', (skill) => {
    const steps = runBlocks(textOf(skill), BEGUN);
    // Which agent moves to the session is known only inside an agent.
    expect(
      failed(steps)
        .map(({ line }) => line)
        .filter((line) => !line.includes('work continue')),
    ).toEqual([]);
  });

  test.each(['starting-session', 'session-management', 'orchestrate', 'learning-from-sessions'])(
    'work without a session: %s',
    (skill) => {
      expect(failed(runBlocks(textOf(skill)))).toEqual([]);
    },
  );
});
