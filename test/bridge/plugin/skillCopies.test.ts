// covers: bridge/plugin/inTheWay.ts bridge/plugin/skillAgents.ts bridge/plugin/skillCopies.ts bridge/cli/plugin/skills.ts
/** Copies of the skills for programs without a plugin. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { command } from '../../../bridge/cli/plugin/plugin.js';
import { programRunner } from '../../../bridge/command/runProgram.js';
import { copySkills, lookAtCopies } from '../../../bridge/plugin/skillCopies.js';
import { UnreachableError } from '../../../src/errors.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { packageRoot } from '../../../src/host/program.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { describeWhereInstalled } from '../../harness/installed.js';
import { runCommand } from '../cli/inProcess.js';

const ROOT = packageRoot();
const NAMES = readdirSync(join(ROOT, 'plugin/skills')).sort();

let home: string;
beforeEach(() => {
  home = testFolder();
});

function call(...args: string[]) {
  const variables = { HOME: home, PATH: join(home, 'bin') };
  const surroundings = { directory: home, process: readProcessIdentity('host'), variables };
  return runCommand(command, args, { surroundings, runProgram: programRunner(variables, systemClock) });
}
const json = async (...args: string[]) => JSON.parse((await call(...args, '--json')).out);
const skillsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .sort();
const textOf = (folder: string, name: string) => readFileSync(join(folder, name, 'SKILL.md'), 'utf8');

describe.each([
  ['gemini', '.gemini/skills'],
  ['cursor', '.cursor/skills'],
] as const)('plugin install --agent %s', (agent, place) => {
  const folder = () => join(home, place);

  test('copies every skill to where the program looks for them, and says what it lacks', async () => {
    const printed = await call('install', '--agent', agent, '--print');
    expect(printed.out).toContain(`copies into ${folder()}:\n  bookmarking-code\n`);
    expect(existsSync(folder())).toBe(false);
    const { code, out } = await call('install', '--agent', agent);
    expect(code).toBe(0);
    expect(skillsIn(folder())).toEqual(NAMES);
    expect(out).toMatch(/lacks hooks/);
    expect(out).toMatch(/lacks the MCP server: /);
    // Two folders above a copy there is no plugin.
    for (const name of NAMES) {
      expect(textOf(folder(), name)).not.toMatch(/folders\s+above/);
      expect(textOf(folder(), name)).toContain(`${ROOT}/bin/watchkeeper`);
    }
    expect(await json('status', '--agent', agent)).toMatchObject({
      agent,
      hooks: 'none',
      skills: 'copied',
      server: 'none',
    });
    expect((await call('install', '--agent', agent)).code).toBe(0);
  });

  const program = `.${agent}`;
  test.each<[string, string, () => void, RegExp]>([
    [
      'a plain file for the program',
      program,
      () => writeFileSync(join(home, program), 'x'),
      /is not a folder, .* move it away/,
    ],
    [
      'a link to nothing',
      program,
      () => symlinkSync('/nowhere/x', join(home, program)),
      /is a link to \/nowhere\/x, which cannot be reached: remove/,
    ],
    [
      'a link to itself',
      program,
      () => symlinkSync(program, join(home, program)),
      /is a link to \.\w+, which cannot be reached: remove/,
    ],
    [
      'a plain file for the skills',
      place,
      () => {
        mkdirSync(join(home, program));
        writeFileSync(folder(), 'x');
      },
      /is not a folder, .* move it away/,
    ],
  ])('names what is in the way, and what to do: %s', async (_, path, put, words) => {
    put();
    const said = `${join(home, path)} ${words.source}`;
    await expect(call('install', '--agent', agent)).rejects.toThrow(UnreachableError);
    await expect(call('install', '--agent', agent)).rejects.toThrow(new RegExp(`^${said}`));
    expect(await call('status', '--agent', agent)).toMatchObject({
      code: 1,
      out: expect.stringMatching(new RegExp(`^${said}`, 'm')),
    });
    expect(await json('status', '--agent', agent)).toMatchObject({
      skills: 'none',
      in_the_way: expect.stringMatching(words),
    });
    expect(await call('remove', '--agent', agent)).toMatchObject({ code: 0, out: 'nothing was installed\n' });
  });

  test('names a folder in the place of a file, and what to do', async () => {
    const list = join(folder(), '.watchkeeper-skills.json');
    mkdirSync(list, { recursive: true });
    const said = `${list} is a folder, and a file belongs there: move it away`;
    for (const word of ['install', 'remove']) await expect(call(word, '--agent', agent)).rejects.toThrow(said);
  });

  test('leaves skills of others and what a person has changed alone, also when they are removed', async () => {
    mkdirSync(join(folder(), 'resume'), { recursive: true });
    writeFileSync(join(folder(), 'resume/SKILL.md'), 'mine');
    expect(await call('install', '--agent', agent)).toMatchObject({
      code: 1,
      out: expect.stringContaining(`not of Watchkeeper: ${join(folder(), 'resume')}\n`),
    });
    writeFileSync(join(folder(), 'taking-over/SKILL.md'), 'changed');
    const again = await json('install', '--agent', agent);
    expect(again).toMatchObject({ changed: ['taking-over'], foreign: ['resume'] });
    expect((await call('remove', '--agent', agent)).code).toBe(1);
    expect(skillsIn(folder())).toEqual(['resume', 'taking-over']);
    expect([textOf(folder(), 'resume'), textOf(folder(), 'taking-over')]).toEqual(['mine', 'changed']);
  });
});

describe('the copies', () => {
  test('are outdated if the package has others, and are made again; what the package lacks is removed', () => {
    const folder = join(home, 'skills');
    const root = join(home, 'root');
    const put = (name: string, text: string) => {
      mkdirSync(join(root, 'plugin/skills', name), { recursive: true });
      writeFileSync(join(root, 'plugin/skills', name, 'SKILL.md'), text);
    };
    put('one', '1');
    put('two', '2');
    copySkills(folder, root);
    expect(lookAtCopies(folder, root).state).toBe('copied');
    put('one', '1b');
    rmSync(join(root, 'plugin/skills/two'), { recursive: true });
    expect(lookAtCopies(folder, root)).toEqual({ state: 'outdated', changed: [], foreign: [] });
    copySkills(folder, root);
    expect(skillsIn(folder)).toEqual(['one']);
    expect(textOf(folder, 'one')).toBe('1b');
    rmSync(join(folder, 'one'), { recursive: true });
    copySkills(folder, root);
    expect(textOf(folder, 'one')).toBe('1b');
  });

  test('that a killed process left half made are still ours: an old one, a new one, and a list with both', () => {
    const folder = join(home, 'skills');
    copySkills(folder, ROOT);
    const list = join(folder, '.watchkeeper-skills.json');
    const { skills } = JSON.parse(readFileSync(list, 'utf8'));
    writeFileSync(join(folder, 'resume/SKILL.md'), 'old');
    const old = 'cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4';
    writeFileSync(list, JSON.stringify({ skills: { ...skills, resume: [old, skills.resume].flat() } }));
    expect(lookAtCopies(folder, ROOT)).toMatchObject({ state: 'outdated', changed: [] });
    expect(copySkills(folder, ROOT).changed).toEqual([]);
    expect(lookAtCopies(folder, ROOT).state).toBe('copied');
  });

  test('go into the folder that a link of the person leads to', () => {
    mkdirSync(join(home, 'dotfiles'));
    symlinkSync(join(home, 'dotfiles'), join(home, 'skills'));
    copySkills(join(home, 'skills'), ROOT);
    expect(skillsIn(join(home, 'dotfiles'))).toEqual(NAMES);
  });
});

test('plugin status names such a program that is on PATH or has the skills, and its server; plugin remove takes them back', async () => {
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin/claude'), '#!/bin/sh\necho "[]"\n', { mode: 0o755 });
  writeFileSync(join(home, 'bin/gemini'), '#!/bin/sh\n', { mode: 0o755 });
  await call('install', '--agent', 'cursor');
  const server = { mcpServers: { memory: { command: '/opt/bin/watchkeeper', args: ['mcp'] } } };
  writeFileSync(join(home, '.cursor/mcp.json'), JSON.stringify(server));
  expect((await json('status')).skill_agents).toMatchObject([
    { agent: 'gemini', skills: 'none', server: 'none' },
    { agent: 'cursor', skills: 'copied', server: 'on' },
  ]);
  const { out } = await call('status');
  expect(out).toContain('Gemini CLI lacks skills: watchkeeper plugin install --agent gemini');
  expect(out).not.toContain('Cursor lacks the MCP server');
  await call('remove');
  expect(skillsIn(join(home, '.cursor/skills'))).toEqual([]);
});

describeWhereInstalled(
  'the real Gemini CLI',
  { program: 'gemini', remedy: 'npm install -g @google/gemini-cli' },
  () => {
    test('finds every copied skill', async () => {
      await call('install', '--agent', 'gemini');
      const { stdout, stderr } = spawnSync('gemini', ['skills', 'list'], {
        cwd: home,
        env: { HOME: home, PATH: process.env.PATH },
        encoding: 'utf8',
        timeout: 60_000,
      });
      const found = [...`${stdout}${stderr}`.matchAll(/^([a-z-]+) \[Enabled\]$/gm)].map(([, name = '']) => name);
      expect(found.sort()).toEqual(NAMES);
    }, 90_000);
  },
);
