// covers: memory/verbs/startWorktree.ts memory/worktrees/start.ts memory/worktrees/include.ts memory/worktrees/naming.ts
/** `watchkeeper worktree start`: what it shows, makes, copies, runs and refuses. */
import { randomUUID } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { command } from '../../../../bridge/cli/worktree/worktree.js';
import { programRunner } from '../../../../bridge/command/runProgram.js';
import { UsageError, WatchkeeperError } from '../../../../src/errors.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { systemClock } from '../../../../src/time.js';
import { testFolder } from '../../../harness/folder.js';
import { put } from '../../../memory/git/plainGit.js';
import { UnansweredGit, withoutEach } from '../../../memory/git/unansweredGit.js';
import { everyFile, Worktrees } from '../../../memory/worktrees/scene.js';
import { runCommand } from '../inProcess.js';

let made: Worktrees;

beforeEach(() => {
  made = new Worktrees();
});

async function start(args: readonly string[], directory = made.root, typed?: string, more = {}) {
  const variables = { ...made.git.variables, ...more, WATCHKEEPER_HOME: join(made.folder, 'memory') };
  const surroundings = { directory, process: readProcessIdentity('host'), variables };
  const runProgram = programRunner(made.git.variables, systemClock);
  try {
    return await runCommand(command, ['start', ...args], {
      ...{ surroundings, runProgram },
      ...(typed !== undefined && { typed }),
    });
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    return { code: error instanceof UsageError ? 2 : 3, out: '', err: error.message };
  }
}

const login = () => `${made.root}.worktrees/feature-login`;
const headOf = (path: string) => made.git.run(path, 'rev-parse', 'HEAD').trim();

describe('a new branch', () => {
  test('is shown first, and nothing changes; with --yes it is made, and no session', async () => {
    const before = everyFile(made.root);
    const shown = await start(['login', '--type', 'feature']);
    expect(shown).toMatchObject({ code: 1, out: '' });
    expect(shown.err).toContain('branch feature/login, new, at main');
    expect(shown.err).toContain(`folder ${login()}`);
    expect(everyFile(made.root)).toEqual(before);
    for (const word of ['n', '', 'yesterday']) {
      const asked = await start(['login', '--type', 'feature'], made.root, word);
      expect(asked).toMatchObject({ code: 1, err: 'nothing was made\n' });
      expect(asked.out).toMatch(/^branch feature\/login, (.|\n)*make it\? \[y\/N\] $/);
    }
    expect(everyFile(made.root)).toEqual(before);
    const done = await start(['login', '--type', 'feature', '--yes'], join(made.root, 'sub'));
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(done.out).toContain(`made: cd ${login()}\n`);
    expect(made.at(login())).toMatchObject({ branch: 'feature/login', head: headOf(made.root) });
    expect(existsSync(join(made.folder, 'memory/sessions'))).toBe(false);
    const typed = await start(['logout', '--type', 'feature'], made.root, ' Yes');
    expect(typed).toMatchObject({ code: 0, err: '' });
    expect(typed.out.match(/branch feature\/logout/g)).toHaveLength(1);
    expect(typed.out).toMatch(/make it\? \[y\/N\] made: cd [^\n]+\n$/);
  });

  test('begins at the remote-tracking branch if that is ahead, at --from, or where --branch is', async () => {
    const clone = join(made.folder, 'clone');
    made.git.run(made.folder, 'clone', '-q', made.root, clone);
    made.git.commitAll(made.root, 'third');
    const at = async (name: string, ...more: string[]) => {
      const said = await start([name, '--type', 'fix', '--yes', ...more], clone);
      return { said: said.out + said.err, head: headOf(`${clone}.worktrees/fix-${name}`) };
    };
    expect((await at('before')).head).toBe(headOf(clone));
    const fetched = await at('after', '--fetch');
    expect(fetched.said).toContain('at origin/main; the local one is 1 behind');
    expect(fetched.head).toBe(headOf(made.root));
    expect((await at('named', '--from', 'main~1')).head).toBe(made.git.run(clone, 'rev-parse', 'main~1').trim());
    made.git.run(clone, 'branch', 'theirs', 'main~1');
    await at('taken', '--branch', 'theirs');
    expect(made.at(`${clone}.worktrees/fix-taken`, clone).branch).toBe('theirs');
  });

  test('in a `.bare` container has its folder there', async () => {
    const home = join(made.folder, 'container');
    mkdirSync(home);
    made.git.run(made.folder, 'clone', '-q', '--bare', made.root, join(home, '.bare'));
    put(join(home, '.git'), 'gitdir: ./.bare\n');
    expect((await start(['login', '--type', 'feature', '--yes'], home)).code).toBe(0);
    expect(headOf(join(home, 'feature/login'))).toBe(headOf(made.root));
  });
});

describe('ignored files that `.worktreeinclude` names', () => {
  const include = (text: string) => {
    put(join(made.root, '.gitignore'), '.env*\nlarge\nlink\n');
    put(join(made.root, '.worktreeinclude'), text);
  };

  test('are copied with their modes; others are not', async () => {
    include('# local settings\n.env\nconf/.env.local\na.txt\nnew.txt\n');
    put(join(made.root, '.env'), 'KEY=1\n', 0o600);
    put(join(made.root, 'conf/.env.local'), 'KEY=2\n');
    put(join(made.root, '.env.other'), '');
    put(join(made.root, 'new.txt'), 'not ignored\n');
    const done = await start(['login', '--type', 'feature', '--yes']);
    expect(done.out).toContain('copies from the main checkout: .env, conf/.env.local\n');
    expect(lstatSync(join(login(), '.env')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(login(), 'conf/.env.local'), 'utf8')).toBe('KEY=2\n');
    for (const name of ['.env.other', 'new.txt']) expect(existsSync(join(login(), name))).toBe(false);
  });

  test.each([
    ['a path outside', '../secret', '../secret'],
    ['everything', '/', 'names /'],
    ['a link', 'link', 'is a link'],
  ])('are refused if they name %s, before anything is made', async (_, text, words) => {
    include(`${text}\n`);
    put(join(made.folder, 'secret'), 'secret');
    symlinkSync(join(made.folder, 'secret'), join(made.root, 'link'));
    const refused = await start(['login', '--type', 'feature', '--yes']);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(words) });
    expect(existsSync(login())).toBe(false);
  });

  test('are refused if the list itself is a link', async () => {
    put(join(made.folder, 'list'), '.env\n');
    symlinkSync(join(made.folder, 'list'), join(made.root, '.worktreeinclude'));
    expect((await start(['login', '--type', 'feature', '--yes'])).err).toContain('links are not followed');
  });

  test('are not written through a link that the new checkout has', async () => {
    const outside = join(made.folder, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(made.root, 'conf'));
    made.git.commitAll(made.root, 'with a link');
    made.git.run(made.root, 'checkout', '-q', '-b', 'other', 'main~1');
    include('conf/.env\n');
    put(join(made.root, 'conf/.env'), 'KEY=1\n');
    const done = await start(['login', '--type', 'feature', '--yes']);
    expect(done.err).toContain('not copied: conf/.env is behind a link');
    expect(existsSync(join(outside, '.env'))).toBe(false);
  });
});

describe('the setup of `git config watchkeeper.setup`', () => {
  test('runs there, and two worktrees have different ports', async () => {
    const command = 'echo "$PWD $WATCHKEEPER_WORKTREE $WATCHKEEPER_SOURCE $WATCHKEEPER_PORT" >set-up';
    made.git.run(made.root, 'config', 'watchkeeper.setup', command);
    const ports = [];
    for (const name of ['one', 'two']) {
      const value = JSON.parse((await start([name, '--type', 'fix', '--yes', '--json'])).out);
      const path = `${made.root}.worktrees/fix-${name}`;
      expect(readFileSync(join(path, 'set-up'), 'utf8')).toBe(`${path} ${path} ${made.root} ${value.port}\n`);
      ports.push(value.port);
    }
    expect(new Set(ports).size).toBe(2);
  });

  test('gets no port that another worktree has', async () => {
    const portOf = async (name: string) =>
      JSON.parse((await start([name, '--type', 'fix', '--yes', '--json'])).out).port as number;
    await portOf('one');
    const taken = await portOf('two');
    made.git.run(made.root, 'worktree', 'remove', `${made.root}.worktrees/fix-two`);
    made.git.run(made.root, 'branch', '-D', 'fix/two');
    put(join(made.root, '.git/worktrees/fix-one/watchkeeper-port'), `${taken}\n`);
    expect(await portOf('two')).not.toBe(taken);
  });

  test('may fail: it is said, exit 1, and the worktree stays', async () => {
    made.git.run(made.root, 'config', 'watchkeeper.setup', 'echo no room >&2; exit 3');
    const done = await start(['login', '--type', 'feature', '--yes']);
    expect(done).toMatchObject({ code: 1, err: expect.stringContaining('no room') });
    expect(made.at(login()).ghost).toBeNull();
  });

  test('and so may a hook of the repository', async () => {
    put(join(made.root, '.git/hooks/post-checkout'), '#!/bin/sh\necho not today >&2\nexit 1\n', 0o755);
    const done = await start(['login', '--type', 'feature', '--yes']);
    expect(done).toMatchObject({ code: 1, err: expect.stringContaining('not today') });
    expect(made.at(login()).branch).toBe('feature/login');
  });
});

describe('it is refused, with what would do', () => {
  test.each([
    ['Log In', 'such as log-in'],
    ['log--in', 'such as log-in'],
    ['login-'.repeat(8), 'such as login-login-login-login-login-login'],
    ['ab', '3 to 40'],
  ])('the name %s', async (name, words) => {
    expect(await start([name, '--type', 'feature', '--yes'])).toMatchObject({
      code: 1,
      err: expect.stringContaining(words),
    });
  });

  test.each([
    ['feature/login', 'there is a branch feature/login: `--branch feature/login` takes it'],
    ['feature', 'there is a branch feature, so git can have none that begins with feature/'],
    ['feature/login/form', 'there is a branch feature/login/form'],
  ])('beside a branch %s', async (branch, words) => {
    made.git.run(made.root, 'branch', branch);
    expect((await start(['login', '--type', 'feature', '--yes'])).err).toContain(words);
  });

  test('a branch that is checked out, or is not there; a folder that is there; both at once', async () => {
    mkdirSync(login(), { recursive: true });
    const refused = await start(['login', '--type', 'feature', '--branch', 'main', '--yes']);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain(`main is checked out already, in ${made.root}`);
    expect(refused.err).toContain(`${login()} is there already`);
    const none = await start(['other', '--type', 'fix', '--branch', 'none', '--yes']);
    expect(none.err).toContain('there is no branch none');
  });

  test('another type, two beginnings, no commit yet, a submodule', async () => {
    expect((await start(['login', '--type', 'spike'])).code).toBe(2);
    expect((await start(['login', '--type', 'fix', '--from', 'main', '--branch', 'main'])).code).toBe(2);
    const empty = join(made.folder, 'empty');
    mkdirSync(empty);
    made.git.run(empty, 'init', '-q');
    expect((await start(['login', '--type', 'fix', '--yes'], empty)).err).toContain('make a first commit');
    const outer = made.git.repository(join(made.folder, 'outer'));
    made.git.run(outer, 'submodule', '--quiet', 'add', made.root, 'module');
    expect((await start(['login', '--type', 'fix', '--yes'], join(outer, 'module'))).err).toContain('is a submodule');
    rmSync(outer, { recursive: true });
  });
});

test.each([['--from', 'main'], ['--branch', 'side'], []])(
  'while git does not answer, nothing is said to be missing: %s %s',
  async (...args) => {
    made.git.run(made.root, 'branch', 'side');
    await withoutEach(async (questions) => {
      const asked = new UnansweredGit(
        join(testFolder(), `git ${questions.length === 0 ? '' : randomUUID()}`),
        questions,
      );
      const PATH = [asked.folder, made.git.variables.PATH].join(delimiter);
      const { out, err } = await start(['login', '--type', 'feature', ...args], made.root, undefined, { PATH });
      expect(out + err).not.toMatch(/there is no/);
      return asked;
    });
  },
);
