/** What an agent can do to our questions besides naming programs, and what they do not see. */
import { spawnSync } from 'node:child_process';
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { systemProgram } from '../../../bridge/agents/program/findProgram.js';
import { Git } from '../../../memory/git/git.js';
import { runGit } from '../../../memory/git/gitLine.js';
import { readSettings } from '../../../memory/git/settings.js';
import { MINUTE } from '../../../src/time.js';
import { watchkeeper } from '../../bridge/cli/program.js';
import { testFolder } from '../../harness/folder.js';
import { put } from './plainGit.js';
import { Site } from './site.js';

const asRoot = process.getuid?.() === 0 ? test : test.skip;
const OTHER_USER = 65_534;

let site: Site;

beforeEach(() => {
  site = new Site(testFolder());
});

const asked = (root = site.root, variables = site.git.variables) => new Git(root, variables);

function stateOf(git = asked()) {
  const state = git.state();
  if (state === 'unanswered') throw new Error('git does not answer');
  return state;
}

describe('a git of the project on PATH', () => {
  const asIs = (where: string) => where;

  test.each<[string, (where: string) => string]>([
    ['by its path', asIs],
    ['as `.`', () => '.'],
    ['as nothing, which is the same', () => ''],
    [
      'by a link',
      (where) => {
        symlinkSync(where, join(site.folder, 'link'));
        return join(site.folder, 'link');
      },
    ],
  ])('is not started if it is there %s', (_, spell) => {
    site.program('git of the project', 'node_modules/.bin/git');
    const bin = site.in('node_modules/.bin');
    const PATH = [spell(bin), site.git.variables.PATH].join(delimiter);
    const variables = { ...site.git.variables, PATH };
    spawnSync('git', ['status'], { cwd: bin, env: variables });
    expect(site.marks()).toEqual(['git of the project']);
    expect(stateOf(asked(site.root, variables))?.branch).toBe('main');
    expect(site.marks()).toEqual([]);
  });

  test('is not started from a linked worktree either', () => {
    site.program('git of the project', 'node_modules/.bin/git');
    const linked = site.in('.claude/worktrees/linked');
    site.git.run(site.root, 'worktree', 'add', '-q', linked);
    const variables = {
      ...site.git.variables,
      PATH: `${site.in('node_modules/.bin')}${delimiter}${site.git.variables.PATH}`,
    };
    expect(stateOf(asked(linked, variables))?.branch).toBe('linked');
    expect(site.marks()).toEqual([]);
  });
});

test('its words at a refusal are text, also where its answer is read as bytes', () => {
  const line = { command: '/bin/sh', args: ['-c', 'cat; printf ä >&2'], env: {} };
  expect(runGit(line, { limitMs: MINUTE, encoding: 'latin1', input: '\xff' })).toMatchObject({
    code: 0,
    out: '\xff',
    err: 'ä',
  });
});

test('its words at a refusal are about the last question', () => {
  const git = asked();
  truncateSync(site.in('.git/index'), 20);
  expect(git.state()).toBe('unanswered');
  expect(git.refusal).toMatch(/index file smaller than expected$/);
  rmSync(site.in('.git'), { recursive: true });
  expect([git.checkout(), git.refusal]).toEqual([null, null]);
});

test('a configuration that an agent writes in the middle of a question names nothing', () => {
  const run = site.program('late');
  site.attribute('late.txt', 'filter=late');
  const settings = `[core]\\n\\tfsmonitor = ${run}\\n[filter \\"late\\"]\\n\\tclean = ${run}\\n`;
  const late = `#!/bin/sh\nprintf "${settings}" >>'${site.in('.git/config')}'\nexec ${systemProgram('git')} "$@"\n`;
  put(join(site.folder, 'bin/git'), late, 0o755);
  const PATH = [join(site.folder, 'bin'), site.git.variables.PATH].join(delimiter);
  expect(stateOf(asked(site.root, { ...site.git.variables, PATH }))?.dirty).toContain('late.txt');
  expect(site.marks()).toEqual([]);
  site.try({ args: ['diff'] });
  expect(site.marks()).toEqual(['late']);
});

test('a commit of a log that looks like an option is no commit', () => {
  const file = join(site.folder, 'written');
  expect(asked().commitsSince(`--output=${file}`)).toBe('elsewhere');
  expect(asked().commitsSince('HEAD')).toBe('elsewhere');
  expect(asked().commitsSince(stateOf()?.head ?? '')).toBe(0);
  expect(readdirSync(site.folder)).not.toContain('written');
});

test('a pipe in the place of a configuration delays the start of an agent by less than two seconds', () => {
  // Otherwise the files of git show the format of the commits, and the configuration is not read for them.
  const root = site.git.repository(join(site.folder, 'long'), '--object-format=sha256');
  spawnSync('mkfifo', [join(root, '.git/pipe')]);
  expect(asked(root).commitsAfter(0)).toBe(2);
  for (const where of [root, site.root]) site.git.run(where, 'config', 'include.path', join(root, '.git/pipe'));
  const begun = performance.now();
  expect(asked(root).commitsAfter(0)).toBeNull();
  expect(performance.now() - begun).toBeLessThan(2_000);
  expect(asked().commitsAfter(0)).toBe(2);
});

asRoot.each(['', '.git'])('git is not asked for what another user owns, unless the user says so: ROOT/%s', (path) => {
  site.config({ 'safe.directory': '*' });
  chownSync(site.in(path), OTHER_USER, OTHER_USER);
  expect(asked().state()).toBe('unanswered');
  expect(asked().commitsAfter(0)).toBeNull();
  expect(asked().files()).toBeNull();
  site.git.run(site.folder, 'config', '--global', 'safe.directory', site.root);
  expect(stateOf()?.branch).toBe('main');
});

asRoot('a file in the place of `.git` does not lead to the repository of another user', () => {
  const [root, apart] = [join(site.folder, 'root'), join(site.folder, 'apart')];
  site.git.run(site.folder, 'clone', '-q', `--separate-git-dir=${apart}`, site.root, root);
  expect(stateOf(asked(root))?.branch).toBe('main');
  chownSync(apart, OTHER_USER, OTHER_USER);
  expect(asked(root).state()).toBe('unanswered');
});

test('a repository of a format that is not known is not read', () => {
  expect(asked().files()).not.toBeNull();
  site.config({ 'core.repositoryFormatVersion': '1', 'extensions.fromTheFuture': 'true' });
  expect(asked().files()).toBeNull();
  const listed = `core.repositoryformatversion\n1\0core.bare\nfalse\0`;
  expect(readSettings(listed)).not.toBeNull();
  expect(readSettings(`${listed}extensions.fromthefuture\ntrue\0`)).toBeNull();
  expect(readSettings(`${listed}extensions.refstorage\nelsewhere\0`)).toBeNull();
});

test('a flag without a value is true', () => {
  const isBare = (flag: string) => readSettings(`core.repositoryformatversion\n0\0${flag}\0`)?.isBare;
  expect(['core.bare', 'core.bare\nyes', 'core.bare\n1'].map(isBare)).toEqual([true, true, true]);
  expect(['core.bare\n', 'core.bare\noff', 'core.bare\n00', 'core.symlinks'].map(isBare)).toEqual(Array(4).fill(false));
});

test('the contents of changed files count for themselves if the commit lacks one', () => {
  expect(asked().state()).toMatchObject({ dirty: ['a.txt'], undigested: [] });
  site.lose('HEAD:a.txt');
  expect(asked().state()).toMatchObject({ dirty: ['a.txt'], undigested: ['a.txt'] });
});

test('a file that a filter would make equal is changed once it is touched', () => {
  site.git.run(site.root, 'checkout', '-q', 'a.txt');
  put(site.in('.gitattributes'), 'large.txt filter=large\n');
  site.config({ 'filter.large.clean': 'tr a-z A-Z', 'filter.large.smudge': 'tr A-Z a-z' }, '--global');
  put(site.in('large.txt'), 'small letters\n');
  // Of a file that is as young as the index, git compares the contents in any case.
  utimesSync(site.in('large.txt'), 5, 5);
  site.git.commitAll(site.root, 'large');
  expect(stateOf()?.dirty).toEqual([]);
  utimesSync(site.in('large.txt'), 6, 6);
  expect(stateOf()?.dirty).toEqual(['large.txt']);
  expect(site.git.run(site.root, 'status', '--porcelain')).toBe('');
});

test('changes in a submodule are not seen, only another commit', () => {
  const module = site.submodule();
  expect(stateOf()?.dirty).toEqual(['a.txt']);
  site.git.commitAll(module, 'third');
  expect(stateOf()?.dirty).toEqual(['a.txt', 'module']);
});

test('our configuration is not where an agent of the project can write', () => {
  const noting = `#!/bin/sh\nenv | grep GIT_COMMON_DIR >>"$HOME/places"\nexec ${systemProgram('git')} "$@"\n`;
  put(join(site.folder, 'bin/git'), noting, 0o755);
  mkdirSync(site.in('tmp'));
  const { HOME, PATH } = site.git.variables;
  const environment = { HOME, PATH: [join(site.folder, 'bin'), PATH].join(delimiter), TMPDIR: site.in('tmp') };
  for (const args of [['init', 'Task'], ['scan']]) watchkeeper(site.root, ['track', ...args], environment);
  const places = readFileSync(join(site.git.home, 'places'), 'utf8');
  expect(places).toMatch(/^(?:GIT_COMMON_DIR=\/tmp\/watchkeeper-git-\d+-\w{6}\n){2}$/);
});
