/** The real command line in a checkout that names all programs at once, with a git that notes how it is called. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { systemProgram } from '../../../bridge/agents/program/findProgram.js';
import { watchkeeperAgain } from '../../bridge/cli/manyCalls.js';
import { hook, payload } from '../../bridge/hook/hookScene.js';
import { testFolder } from '../../harness/folder.js';
import { type Called, everyWord } from './everyCommand.js';
import { put } from './plainGit.js';
import { PLANTS } from './plants.js';
import { Site } from './site.js';

const GIT = systemProgram('git') ?? 'git';
const TOGETHER = PLANTS.filter(({ isAlone }) => !isAlone);
/** Notes its words, and then its directory and its variables, without a process for each. */
const NOTING_GIT = `#!/bin/sh
{ echo "git $*"; printf DIRECTORY=; pwd; export -p; } >>"$HOME/calls"
exec ${GIT} "$@"
`;
const CONVERSATION = 'c-1';

interface GitCall {
  readonly words: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

let site: Site;
/** A worktree with a commit that is not merged. */
let linked: string;
let temporary: string;
/** What is left of PATH. */
let outside: string;
let called: Called[];

beforeAll(async () => {
  site = new Site(testFolder());
  linked = join(site.folder, 'linked');
  site.git.run(site.root, 'worktree', 'add', '-q', linked, 'HEAD~1');
  put(join(linked, 'new.txt'), 'new\n');
  site.git.commitAll(linked, 'new');
  for (const { name, plant } of TOGETHER) plant(site, site.program(name));
  site.marks();
  put(join(site.folder, 'bin/git'), NOTING_GIT, 0o755);
  temporary = join(site.folder, 'tmp');
  mkdirSync(temporary);
  const { PATH, HOME } = site.git.variables;
  outside = [join(site.folder, 'bin'), PATH].join(delimiter);
  const inside = ['.', 'node_modules/.bin', site.in('node_modules/.bin')];
  const environment = { PATH: [...inside, outside].join(delimiter), HOME, TMPDIR: temporary };
  const type = (args: readonly string[], more = {}) => watchkeeperAgain(site.root, args, { ...environment, ...more });
  const agent = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'c-0', CLAUDE_PID: String(process.pid) };
  called = await everyWord((command, args) => type([command, ...args], agent));
  for (const args of [['doctor'], ['doctor', '--quick']]) called.push({ line: args.join(' '), ...type(args) });
  const place = { home: join(site.folder, 'memory'), work: site.root };
  const start = async (source: string) => {
    const event = payload(place, 'SessionStart', { session_id: CONVERSATION, source });
    const { code, out } = await hook(place, event, environment);
    called.push({ line: `the hook of a start (${source})`, code, err: out });
  };
  await start('startup');
  type(['track', 'note', 'words'], { WATCHKEEPER_HOME: place.home, CLAUDE_CODE_SESSION_ID: CONVERSATION });
  await start('resume');
}, 120_000);

/** What git was asked, in the order of the calls. */
function gitCalls(): GitCall[] {
  const noted = readFileSync(join(site.git.home, 'calls'), 'utf8').split(/^git /m).slice(1);
  return noted.map((text) => {
    const [words = '', ...lines] = text.trimEnd().split('\n');
    const named = lines.flatMap((line) => {
      const [, name = '', value] = /^(?:export )?(DIRECTORY|GIT_\w+|PATH)=['"]?(.*?)['"]?$/.exec(line) ?? [];
      return value === undefined ? [] : [[name, value]];
    });
    return { words, variables: Object.fromEntries(named) };
  });
}

test('no program is run, although twenty of them are where git runs them', () => {
  expect(called.filter(({ code }) => code !== 0 && code !== 1)).toEqual([]);
  expect(site.marks()).toEqual([]);
  for (const { proof } of TOGETHER) for (const command of proof) site.try(command);
  expect(site.marks().length).toBeGreaterThanOrEqual(20);
});

test('git is asked by our configuration, or where the repository is and how it is set', () => {
  const calls = gitCalls();
  const isPrivate = ({ variables }: GitCall) => variables.GIT_COMMON_DIR !== undefined;
  const others = calls.filter((call) => !isPrivate(call)).map(({ words }) => words.replaceAll(site.root, 'ROOT'));
  expect([...new Set(others)]).toEqual([
    expect.stringMatching(/^-C ROOT --git-dir=ROOT\/\.git config -z --get-regexp \^\(\S+\)\$$/),
    expect.stringMatching(
      /^-C ROOT\/module --git-dir=ROOT\/\.git\/modules\/module config -z --get-regexp \^\(\S+\)\$$/,
    ),
    expect.stringMatching(
      /^-C \S+\/linked --git-dir=ROOT\/\.git\/worktrees\/linked config -z --get-regexp \^\(\S+\)\$$/,
    ),
    '-C ROOT rev-parse --git-dir',
  ]);
  const ours = expect.stringMatching(`^${temporary}/watchkeeper-git-\\d+-\\w{6}$`);
  const inOurs = expect.stringMatching(`^${temporary}/watchkeeper-git-\\d+-\\w{6}/`);
  const isTrial = ({ words }: GitCall) => words.includes('core.attributesFile=/dev/null');
  for (const { variables } of calls.filter(isTrial))
    expect(variables).toMatchObject({
      ...{ DIRECTORY: '/', PATH: outside, GIT_DIR: ours, GIT_COMMON_DIR: ours },
      ...{ GIT_OBJECT_DIRECTORY: inOurs, GIT_WORK_TREE: inOurs },
      ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_ATTR_NOSYSTEM: '1' },
    });
  expect(calls.filter(isTrial).length).toBeGreaterThan(0);
  const folders = new Map([
    [site.root, { folder: '.git', common: '.git' }],
    [linked, { folder: '.git/worktrees/linked', common: '.git' }],
    [site.in('module'), { folder: '.git/modules/module', common: '.git/modules/module' }],
  ]);
  for (const { variables } of calls.filter((call) => isPrivate(call) && !isTrial(call)))
    expect(variables).toEqual({
      DIRECTORY: '/',
      PATH: outside,
      GIT_DIR: site.in(folders.get(variables.GIT_WORK_TREE ?? '')?.folder ?? 'none'),
      GIT_COMMON_DIR: ours,
      GIT_OBJECT_DIRECTORY: site.in(`${folders.get(variables.GIT_WORK_TREE ?? '')?.common}/objects`),
      GIT_WORK_TREE: expect.any(String),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_OPTIONAL_LOCKS: '0',
    });
  const asked = ['status', 'diff', 'merge-base', 'rev-list', 'ls-files', 'for-each-ref', 'log', 'rev-parse'];
  const untried = calls.filter((call) => isPrivate(call) && !isTrial(call));
  const kinds = untried.map(({ words }) => asked.find((kind) => words.includes(` ${kind} `)));
  expect(new Set(kinds)).toEqual(new Set(asked));
});

test('the folders with our configuration are gone', () => {
  expect(readdirSync(temporary)).toEqual([]);
});
