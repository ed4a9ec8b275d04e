// covers: memory/verbs/endWorktree.ts memory/verbs/againstEnding.ts memory/verbs/endMerged.ts memory/verbs/removeWorktrees.ts memory/verbs/squashMessage.ts
// covers: memory/worktrees/end.ts memory/worktrees/reasons.ts memory/worktrees/mergeReasons.ts memory/worktrees/target.ts memory/worktrees/examine.ts
/** `watchkeeper worktree end`: each reason against it, what is kept, merged and removed, and the way back. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { compiledProgram } from '../../../../src/host/program.js';
import { eventually } from '../../../e2e/eventually.js';
import { afterThisTest } from '../../../harness/scope.js';
import { everyFile } from '../../../memory/worktrees/scene.js';
import { watchkeeperAgain } from '../manyCalls.js';
import { called } from './called.js';
import { Ends, put } from './endScene.js';

let made: Ends;
let path: string;

beforeEach(() => {
  made = new Ends({ branches: ['feature/one'] });
  path = made.placeOf('feature/one');
});

const SLEEP = { program: 'sleep', args: ['600'], argv0: 'sleep' };

async function inside(path: string, { program, args, argv0 } = SLEEP): Promise<ChildProcess> {
  const child = spawn(program, args, { cwd: path, argv0, stdio: ['pipe', 'ignore', 'ignore'] });
  await once(child, 'spawn');
  afterThisTest(async () => {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
  });
  return child;
}

const lock = (pid: number, start: string) => `claude session one (pid ${pid} start ${start})`;

/** By the name of the reason: prepares it in a worktree of the branch `feature/one`, and returns a part of its sentence. */
const REASONS: Readonly<Record<string, (path: string) => string | Promise<string>>> = {
  async in_use(path) {
    const { pid } = await inside(join(path, 'sub'));
    return `sleep (pid ${pid}) works in it`;
  },
  session(path) {
    expect(made.callIn(path, ['work', 'start', '--purpose', 'The task'])).toMatchObject({ code: 0 });
    return 'holds it: The task';
  },
  handoff(path) {
    put(
      join(made.folder, 'handoff.json'),
      JSON.stringify({ title: 'The rest', goal: 'All of it', learnings: ['one'], next: ['two'] }),
    );
    const args = ['handoff', 'create', '--from', join(made.folder, 'handoff.json')];
    expect(made.callIn(path, args)).toMatchObject({ code: 0 });
    return 'is on offer';
  },
  changes(path) {
    appendFileSync(join(path, 'a.txt'), 'changed\n');
    put(join(path, 'new file'), '');
    return 'it has 1 changed file (a.txt), 1 new file (new file)';
  },
  operation(path) {
    put(join(made.git.run(path, 'rev-parse', '--git-dir').trim(), 'BISECT_LOG'), '');
    return 'a bisect is in progress';
  },
  locked(path) {
    made.git.run(made.root, 'worktree', 'lock', '--reason', 'on a stick', path);
    return 'it is locked: on a stick';
  },
  included(path) {
    put(join(made.root, '.worktreeinclude'), '.env\n');
    made.git.commitAll(made.root, 'include');
    put(join(made.root, '.env'), 'KEY=1\n');
    put(join(path, '.env'), 'KEY=2\n');
    return '.env, which .worktreeinclude names';
  },
  target() {
    appendFileSync(join(made.root, 'a.txt'), 'changed\n');
    return 'has changes in a.txt';
  },
  conflicts(path) {
    put(join(path, 'b.txt'), 'ours\n');
    made.git.commitAll(path, 'ours');
    put(join(made.root, 'b.txt'), 'theirs\n');
    made.git.commitAll(made.root, 'theirs');
    return 'merging conflicts in b.txt';
  },
  identity() {
    made.git.run(made.root, 'config', 'user.name', '');
    return 'git does not know in whose name';
  },
  repository(path) {
    const module = join(path, 'module');
    const other = made.git.repository(join(made.folder, 'other'));
    made.git.run(path, 'submodule', '--quiet', 'add', other, 'module');
    made.git.commitAll(path, 'a submodule');
    appendFileSync(join(module, 'a.txt'), 'changed\n');
    return 'it has the submodule module';
  },
  too_large(path) {
    put(join(path, 'large'), '');
    truncateSync(join(path, 'large'), 513 * 1024 * 1024);
    return '513 MiB, more than the 512 MiB';
  },
  worktree_inside(path) {
    made.add('fix/inner', join(path, '.claude/worktrees/inner'));
    return `another worktree is inside: ${join(path, '.claude/worktrees/inner')}`;
  },
};

/** Signs as `gpg` does. */
const SIGN = `cat >/dev/null\necho '-----BEGIN PGP SIGNATURE-----'\necho '[GNUPG:] SIG_CREATED ' >&2\n`;
/** The variables that name a person. */
const nameOf = (role: string) => ({ [`GIT_${role}_NAME`]: 'b', [`GIT_${role}_EMAIL`]: 'b' });

const all = () => ({ files: everyFile(made.folder), refs: made.refs() });

describe('a reason against it', () => {
  test.each(Object.keys(REASONS))('%s is named with what to do, and no byte is changed', async (name) => {
    const words = await REASONS[name]?.(path);
    await made.say(['path', 'one']);
    const before = all();
    const { code, removed, reasons } = await made.ended(['one', '--merge']);
    expect({ code, removed }).toEqual({ code: 1, removed: false });
    const found = reasons.filter(({ reason }) => reason === name);
    expect(found.map((each) => each.words).join('\n')).toContain(words);
    for (const { remedy } of found) expect(remedy).not.toBe('');
    expect(reasons.map(({ reason }) => reason).filter((reason) => reason !== 'changes' && reason !== name)).toEqual([]);
    expect(all()).toEqual(before);
  });

  test('is a handoff on offer also for an agent of a bridge', async () => {
    await REASONS.handoff?.(path);
    const logs = join(made.folder, 'logs');
    put(join(logs, 'watchdog.id'), '01K0\n');
    const variables = { ...made.variables, WATCHKEEPER_MEMORY: logs };
    const { code, out } = await called(['end', 'one', '--merge'], { directory: made.root, variables });
    expect(out).toContain('is on offer');
    expect(code).toBe(1);
  });

  test('and others are named at once', async () => {
    const names = Object.keys(REASONS).filter((name) => name !== 'repository' && name !== 'conflicts');
    const words: string[] = [];
    for (const name of ['conflicts', 'repository', ...names]) words.push((await REASONS[name]?.(path)) ?? '');
    await made.say(['path', 'one']);
    const before = all();
    const { code, reasons } = await made.ended(['one', '--merge']);
    expect(code).toBe(1);
    expect(new Set(reasons.map(({ reason }) => reason))).toEqual(new Set(Object.keys(REASONS)));
    const text = reasons.map((each) => each.words).join('\n');
    for (const part of words.filter((part) => !part.startsWith('it has 1 changed file'))) expect(text).toContain(part);
    expect(text).toContain('module/a.txt');
    expect(all()).toEqual(before);
  });

  test('two of them are words on one screen, each with what to do', async () => {
    await REASONS.changes?.(path);
    await REASONS.locked?.(path);
    const before = all();
    const { code, out } = await made.end(['feature/one', '--merge']);
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      'feature/one stays, and nothing was changed: 2 reasons',
      '- it has 1 changed file (a.txt), 1 new file (new file)',
      `    → commit them there, or give them up with --discard: \`git -C ${path} status\``,
      '- it is locked: on a stick',
      `    → \`git worktree unlock ${path}\``,
      '',
    ]);
    expect(all()).toEqual(before);
  });

  test('a name that git lacks is none where no commit is to be made, and what to type is the way out', async () => {
    await REASONS.identity?.(path);
    const { reasons } = await made.ended(['one', '--merge']);
    expect(reasons).toMatchObject([
      { reason: 'identity', remedy: '`git config user.name NAME` and `git config user.email ADDRESS`' },
    ]);
    expect(await made.ended(['one', '--keep-branch'])).toMatchObject({ removed: true });
    made.git.run(made.root, 'worktree', 'add', '-q', path, 'feature/one');
    made.git.run(made.root, 'config', 'user.name', 'a');
    expect(await made.ended(['one', '--merge'])).toMatchObject({ removed: true });
    await REASONS.identity?.(made.add('feature/two'));
    expect(await made.ended(['two', '--merge'])).toMatchObject({ removed: true });
  });

  test.each<[string, () => Readonly<Record<string, string>>]>([
    ['variables', () => ({ ...nameOf('AUTHOR'), ...nameOf('COMMITTER') })],
    ['a configuration that a variable names', () => ({ GIT_CONFIG_GLOBAL: join(made.folder, 'other') })],
    ['a configuration in a folder that a variable names', () => ({ XDG_CONFIG_HOME: join(made.folder, 'xdg') })],
  ])('a name that git lacks is none if it is in %s, and the keys of that person sign', (_, given) => {
    for (const place of ['other', 'xdg/git/config']) put(join(made.folder, place), '[user]\nname = b\nemail = b@c\n');
    rmSync(join(made.git.home, '.gitconfig'));
    made.git.run(made.root, 'config', 'user.useConfigOnly', 'true');
    made.git.run(made.root, 'config', 'commit.gpgSign', 'true');
    made.git.run(made.root, 'config', 'gpg.program', join(made.folder, 'gpg'));
    put(join(made.folder, 'gpg'), `#!/bin/sh\n[ "$GNUPGHOME" = keys ] || exit 1\n${SIGN}`, 0o755);
    const variables = { ...made.variables, ...given(), GNUPGHOME: 'keys' };
    expect(watchkeeperAgain(made.root, ['worktree', 'end', 'one', '--merge'], variables)).toMatchObject({ code: 0 });
    expect(made.git.run(made.root, 'log', '-1', '--format=%an %cn', 'main')).toBe('b b\n');
  });

  test('a file in the way of the merge, also an ignored one, is one', async () => {
    put(join(path, 'b.ignored'), 'forced\n');
    put(join(path, 'folder/file'), 'new\n');
    made.git.run(path, 'add', '-f', 'b.ignored', 'folder');
    made.git.commitAll(path, 'more');
    put(join(made.root, 'b.ignored'), 'precious\n');
    put(join(made.root, 'folder'), 'precious\n');
    const { reasons } = await made.ended(['one', '--merge']);
    expect(reasons).toMatchObject([{ reason: 'target', words: expect.stringContaining('b.ignored, folder in ') }]);
    expect(readFileSync(join(made.root, 'b.ignored'), 'utf8')).toBe('precious\n');
  });

  test('--discard lifts changes and differing files, but wants the name twice', async () => {
    await REASONS.changes?.(path);
    await REASONS.included?.(path);
    const before = all();
    const other = await made.ended(['one', '--discard', 'two']);
    expect(other).toMatchObject({ code: 1, reasons: [{ reason: 'name' }] });
    expect(all()).toEqual(before);
    expect(await made.ended(['one', '--discard', 'one'])).toMatchObject({ code: 0, removed: true, ignored_files: 1 });
    expect(made.isGone(path)).toBe(true);
  });

  test('--keep-branch lifts none of them', async () => {
    await REASONS.changes?.(path);
    await REASONS.included?.(path);
    const { reasons } = await made.ended(['one', '--keep-branch']);
    expect(reasons.map(({ reason }) => reason)).toEqual(['changes', 'included']);
  });

  test('the lock of a live process is one; that of a dead one is named, and goes', async () => {
    const child = await inside(made.folder);
    const { pid, pid_start } = readProcessIdentity('host', child.pid);
    made.git.run(made.root, 'worktree', 'lock', '--reason', lock(pid, pid_start), path);
    const live = await made.ended(['one', '--merge']);
    expect(live.reasons).toMatchObject([{ reason: 'locked', words: expect.stringContaining('which is alive') }]);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    const { code, err } = await made.end(['one', '--merge']);
    expect(code).toBe(0);
    expect(err).toContain(`the lock of Claude Code (pid ${pid}), which is gone, goes with it`);
    expect(made.isGone(path)).toBe(true);
  });

  test("for the caller's own shell it is the directory to change to", () => {
    const called = made.callIn(path, ['worktree', 'end', 'one', '--merge']);
    expect(called.code).toBe(1);
    expect(called.out).toMatch(/^- this command was called in it\n {4}→ `cd \S+work`$/m);
    const line = `cd ${path} && ${process.execPath} ${compiledProgram('bridge/cli/main')} worktree end one --merge; true`;
    const shell = spawnSync('sh', ['-c', line], { encoding: 'utf8', env: { ...made.variables } });
    expect(shell.stdout).toMatch(/^- sh \(pid \d+\), which has called this command, works in it\n {4}→ `cd \S+work`$/m);
  });

  test('an agent is named with what it has started, and a shell gets the signal that ends one', async () => {
    const sleeping = 'sleep 600 & echo $! >sleep.pid; wait';
    const agent = await inside(path, { program: 'sh', args: ['-c', sleeping], argv0: 'claude' });
    const started = () => existsSync(join(path, 'sleep.pid')) && readFileSync(join(path, 'sleep.pid'), 'utf8').trim();
    const sleep = await eventually(started, { what: 'its program' });
    afterThisTest(() => void process.kill(Number(sleep), 'SIGKILL'));
    rmSync(join(path, 'sleep.pid'));
    const shell = await inside(path, { program: 'sh', args: ['-c', 'read line; true'], argv0: '-bash' });
    expect((await made.ended(['one', '--merge'])).reasons).toEqual([
      expect.objectContaining({
        words: `claude (pid ${agent.pid}) works in it, with what it has started: sleep (pid ${sleep})`,
        remedy: expect.stringMatching(/`kill \d+`$/),
      }),
      expect.objectContaining({
        words: `bash (pid ${shell.pid}) works in it`,
        remedy: expect.stringContaining(`\`kill -HUP ${shell.pid}\``),
      }),
    ]);
  });

  test('a change that git was told not to see is one', async () => {
    made.git.run(path, 'update-index', '--assume-unchanged', 'a.txt');
    made.git.run(path, 'update-index', '--skip-worktree', 'b.txt');
    expect((await made.ended(['one', '--keep-branch'])).removed).toBe(true);
    made.git.run(made.root, 'worktree', 'add', '-q', path, 'feature/one');
    made.git.run(path, 'update-index', '--assume-unchanged', 'a.txt');
    made.git.run(path, 'update-index', '--skip-worktree', 'b.txt');
    for (const name of ['a.txt', 'b.txt']) appendFileSync(join(path, name), 'mine\n');
    const { reasons } = await made.ended(['one', '--merge']);
    expect(reasons).toMatchObject([
      { reason: 'changes', words: expect.stringContaining('that git hides (a.txt, b.txt)') },
    ]);
    const { way_back } = await made.ended(['one', '--discard', 'one']);
    made.wayBack(way_back);
    expect(readFileSync(join(path, 'b.txt'), 'utf8')).toContain('mine\n');
  });

  test.each(['password', 'login', 'api-token'])(
    'the way back to a worktree called %s is printed whole',
    async (name) => {
      const path = made.add(`feature/${name}`);
      const { way_back } = await made.ended([name, '--discard', name]);
      expect(way_back[0]).toContain(made.head());
      made.wayBack(way_back);
      expect(made.git.run(path, 'rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe(`feature/${name}`);
    },
  );

  test('a repository in an ignored folder is one', async () => {
    made.git.repository(join(path, 'x.ignored'));
    const { reasons } = await made.ended(['one', '--discard', 'one']);
    expect(reasons).toMatchObject([{ reason: 'repository', words: 'another repository is inside: x.ignored/' }]);
  });

  test('a folder that is gone, and the default branch, are ones; the main checkout is refused', async () => {
    rmSync(path, { recursive: true });
    // Pruned, a worktree on a disk that is attached again would be lost to git.
    const remedy = expect.stringMatching(
      /^if it is on a disk that is not there now, .* only otherwise `git worktree prune`/,
    );
    expect((await made.ended(['one', '--merge'])).reasons).toMatchObject([{ reason: 'leftover', remedy }]);
    expect((await made.end(['main', '--merge'])).err).toContain('is the main checkout, which stays');
    made.git.run(made.root, 'checkout', '-q', '--detach');
    made.git.run(made.root, 'worktree', 'add', '-q', join(made.folder, 'm'), 'main');
    expect((await made.ended(['main', '--merge'])).reasons).toMatchObject([{ reason: 'default_branch' }]);
  });
});

describe('a merge', () => {
  test('is one commit with the record of the session; branch and folder go, and what no branch has is kept', async () => {
    const [before, tip] = [made.head(), made.head(path)];
    const begin = ['track', 'init', 'Add the login', '--step', 'Write the form', '--step', 'Test it'];
    expect(made.callIn(path, begin)).toMatchObject({ code: 0 });
    for (const args of [
      ['1', '--start', '--file', 'form.ts'],
      ['1', '--done'],
    ])
      expect(made.callIn(path, ['track', 'step', ...args])).toMatchObject({ code: 0 });
    const holds = await made.ended(['one', '--merge']);
    expect(holds.reasons).toMatchObject([{ reason: 'session' }]);
    const [, id = ''] = /--session (\S+?)`/.exec(holds.reasons[0]?.remedy ?? '') ?? [];
    expect(made.callIn(made.root, ['work', 'end', id, '--summary', 'People can log in'])).toMatchObject({ code: 0 });
    put(join(path, 'x.ignored'), '');
    const { code, kept, commit, ignored_files, way_back } = await made.ended(['one', '--merge']);
    expect({ code, ignored_files }).toEqual({ code: 0, ignored_files: 1 });
    expect(made.head()).toBe(commit);
    expect(made.git.run(made.root, 'rev-list', '--parents', '-1', 'main').trim()).toBe(`${commit} ${before}`);
    expect(made.git.run(made.root, 'log', '-1', '--format=%B').trimEnd().split('\n')).toEqual([
      'Add the login',
      '',
      `Session ${id}: Add the login`,
      '',
      'People can log in',
      '',
      'Steps:',
      '- Write the form (completed)',
      '- Test it (pending)',
      '',
      'Files:',
      '- form.ts',
      '',
      'Commits:',
      '- work on feature/one',
    ]);
    expect(made.git.run(made.root, 'log', '-1', '--format=%an <%ae>').trim()).toBe('a <a@example.com>');
    expect(readFileSync(join(made.root, 'feature-one.txt'), 'utf8')).toBe('feature/one\n');
    expect(made.git.run(made.root, 'status', '--porcelain')).toBe('');
    expect(made.isGone(path)).toBe(true);
    expect(made.has('refs/heads/feature/one')).toBe(false);
    expect(made.git.run(made.root, 'rev-parse', kept ?? '').trim()).toBe(tip);
    expect(made.git.run(made.root, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(made.callIn(made.root, ['work', 'show', id])).toMatchObject({ code: 0 });
    made.fsck();
    made.wayBack(way_back);
    expect(made.head(path)).toBe(tip);
    expect(made.at(path).branch).toBe('feature/one');
  });

  test('where the target is checked out nowhere, or behind its remote', async () => {
    made.git.run(made.folder, 'clone', '-q', made.root, join(made.folder, 'clone'));
    made.git.run(join(made.folder, 'clone'), 'config', 'user.name', 'a');
    made.git.run(made.root, 'checkout', '-q', '--detach');
    const { code, commit } = await made.ended(['one', '--merge', '--message', 'My words']);
    expect(code).toBe(0);
    expect(made.git.run(made.root, 'rev-parse', 'main').trim()).toBe(commit);
    expect(made.git.run(made.root, 'log', '-1', '--format=%B', 'main').trim()).toBe('My words');
    expect(made.isGone(path)).toBe(true);
    const clone = join(made.folder, 'clone');
    made.git.run(clone, 'fetch', '-q');
    const other = join(made.folder, 'two');
    made.git.run(clone, 'worktree', 'add', '-q', '-b', 'fix/two', other, 'main');
    put(join(other, 'two.txt'), '');
    made.git.commitAll(other, 'two');
    const { out } = await made.end(['two', '--merge'], clone);
    expect(out).toContain('with 1 commit of origin/main that it lacked');
    expect(made.git.run(clone, 'log', '--format=%s').split('\n').slice(0, 2)).toEqual(['two', 'My words']);
  });

  test('without a session has the titles of the commits; the only one is its title', async () => {
    const titles = async (name: string) => {
      expect((await made.ended([name, '--merge'])).code).toBe(0);
      return made.git.run(made.root, 'log', '-1', '--format=%B').trimEnd();
    };
    made.begun('feature/log-in');
    expect(await titles('feature/log-in')).toBe('work on feature/log-in');
    const path = made.begun('feature/log-out');
    put(join(path, 'more.txt'), '');
    made.git.commitAll(path, 'and more');
    expect(await titles('feature/log-out')).toBe('Log out\n\nCommits:\n- work on feature/log-out\n- and more');
  });

  test('names the hooks of commits that have not run, and is silent if there are none', async () => {
    expect((await made.end(['one', '--merge'])).err).not.toContain('hook');
    const hooks = join(made.root, '.hooks');
    put(join(hooks, 'pre-commit'), '#!/bin/sh\n');
    put(join(hooks, 'commit-msg'), 'not to be run');
    chmodSync(join(hooks, 'pre-commit'), 0o755);
    made.git.commitAll(made.root, 'hooks');
    made.git.run(made.root, 'config', 'core.hooksPath', '.hooks');
    made.begun('feature/two');
    expect((await made.end(['two', '--merge'])).err).toMatch(/^no commit hook has run for [0-9a-f]{10}: pre-commit$/m);
  });

  test('into another branch; no hook and no option of that branch for merges changes it', async () => {
    const two = made.begun('feature/two');
    made.git.run(made.root, 'checkout', '-q', '-b', 'release');
    made.git.run(made.root, 'config', 'branch.release.mergeOptions', '--squash');
    const hook = (name: string) => put(join(made.root, '.git/hooks', name), '#!/bin/sh\nexit 1\n', 0o755);
    hook('pre-commit');
    hook('commit-msg');
    const { code, commit } = await made.ended(['one', '--merge', '--into', 'release']);
    expect(code).toBe(0);
    expect(made.git.run(made.root, 'rev-parse', 'release').trim()).toBe(commit);
    hook('reference-transaction');
    expect((await made.ended(['two', '--merge', '--into', 'main'])).code).toBe(0);
    expect([made.isGone(path), made.isGone(two)]).toEqual([true, true]);
  });

  test('of what is merged already is only a removal, whatever git branch -d would say', async () => {
    made.git.run(made.root, 'merge', '-q', '--squash', 'feature/one');
    made.git.commitAll(made.root, 'squash');
    expect(made.git.say(made.root, ['branch', '-d', 'feature/one']).code).not.toBe(0);
    const head = made.head();
    expect(await made.ended(['one', '--merge'])).toMatchObject({ code: 0, commit: null, removed: true });
    expect(made.head()).toBe(head);
    expect(made.isGone(path)).toBe(true);
    expect(made.has('refs/heads/feature/one')).toBe(false);
  });

  test('is signed if the configuration says so, and nothing is removed if that fails', async () => {
    made.git.run(made.root, 'config', 'commit.gpgSign', 'true');
    put(join(made.folder, 'gpg'), '#!/bin/sh\nexit 1\n', 0o755);
    made.git.run(made.root, 'config', 'gpg.program', join(made.folder, 'gpg'));
    const head = made.head();
    const { code, fault } = await made.ended(['one', '--merge']);
    expect(code).toBe(1);
    expect(fault).toContain('git did not make the commit, so nothing was merged');
    expect([made.head(), existsSync(path), made.has('feature/one')]).toEqual([head, true, true]);
    put(join(made.folder, 'gpg'), `#!/bin/sh\n${SIGN}`, 0o755);
    expect((await made.ended(['one', '--merge'])).code).toBe(0);
    expect(made.git.run(made.root, 'cat-file', '-p', 'main')).toContain('gpgsig -----BEGIN PGP SIGNATURE-----');
  });
});

describe('what no branch has', () => {
  test('comes back by the printed way: files, index, marks, conflicts, modes, links, bytes', async () => {
    put(join(path, '.gitattributes'), '* text=auto\n');
    writeFileSync(join(path, 'bytes'), Buffer.from([0, 255, 13, 10, 10, 13]));
    put(join(path, 'crlf.txt'), 'one\r\ntwo\r\n');
    put(join(path, 'new folder/ü "quoted"\t.txt'), 'new\n');
    writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xff, 0xfe])]), 'no text\n');
    symlinkSync('nowhere', join(path, 'link'));
    chmodSync(join(path, 'a.txt'), 0o755);
    put(join(path, 'staged.txt'), 'staged\n');
    made.git.run(path, 'add', 'staged.txt', 'crlf.txt');
    put(join(path, 'staged.txt'), 'and changed\n');
    put(join(path, ':later'), 'later\n');
    rmSync(join(path, 'sub'), { recursive: true });
    symlinkSync('.', join(path, 'sub'));
    made.git.run(made.root, 'branch', 'theirs', 'HEAD~1');
    made.git.run(made.root, 'stash', 'list');
    put(join(path, 'b.txt'), 'mine\n');
    made.git.run(path, 'add', 'b.txt');
    made.git.run(path, 'stash', 'push', '-q', '--', 'b.txt');
    put(join(path, 'b.txt'), 'second\n');
    made.git.run(path, 'commit', '-q', '-m', 'other', '--', 'b.txt');
    put(join(path, 'b.txt'), 'third\n');
    made.git.run(path, 'commit', '-q', '-m', 'third', '--', 'b.txt');
    expect(made.git.say(path, ['stash', 'pop', '-q']).code).not.toBe(0);
    expect(made.git.run(path, 'status', '--porcelain')).toMatch(/^(UU|AA|DU|UD) b\.txt$/m);
    made.git.run(path, '--literal-pathspecs', 'add', '-N', ':later');
    made.git.run(path, 'update-index', '--skip-worktree', 'a.txt', 'feature-one.txt');
    rmSync(join(path, 'feature-one.txt'));
    made.git.run(path, 'update-index', '--assume-unchanged', '.gitignore', 'a.txt');
    const shown = () => [
      made.git.run(path, 'status', '--porcelain=v2', '-z', '--untracked-files=all'),
      made.git.run(path, 'ls-files', '-s', '-v', '-z'),
      made.head(path),
      filesOf(path),
    ];
    const before = shown();
    const { way_back, code } = await made.ended(['one', '--discard', 'one']);
    expect(code).toBe(0);
    expect(made.isGone(path)).toBe(true);
    made.git.run(made.root, 'gc', '-q', '--prune=now');
    made.wayBack(way_back);
    expect(shown()).toEqual(before);
    expect(made.git.run(made.root, 'stash', 'list')).toContain('stash@{0}');
    made.fsck();
  });

  test('a detached commit, and those that only a log knows', async () => {
    const path = join(made.folder, 'loose');
    made.git.run(made.root, 'worktree', 'add', '-q', '--detach', path);
    put(join(path, 'one.txt'), '');
    made.git.commitAll(path, 'before the amendment');
    const first = made.head(path);
    made.git.run(path, 'commit', '-q', '--amend', '-m', 'amended');
    const tip = made.head(path);
    const usage = await made.end(['loose', '--keep-branch']);
    expect(usage).toMatchObject({ code: 2, err: expect.stringContaining('has no branch checked out') });
    const { kept, way_back } = await made.ended(['loose', '--discard', 'loose']);
    made.git.run(made.root, 'reflog', 'expire', '--expire=now', '--all');
    made.git.run(made.root, 'gc', '-q', '--prune=now');
    expect(made.git.run(made.root, 'log', '--format=%H', kept ?? '')).toContain(first);
    made.wayBack(way_back);
    expect(made.head(path)).toBe(tip);
  });

  test('is not kept twice: a commit that another branch has needs no ref', async () => {
    made.git.run(made.root, 'branch', 'other', 'feature/one');
    const { kept, way_back } = await made.ended(['one', '--discard', 'one']);
    expect(kept).toBeNull();
    made.wayBack(way_back);
    expect(made.at(path).branch).toBe('feature/one');
  });

  test('goes after so many days, at the next end or start', async () => {
    const old = 'refs/watchkeeper/removed/fix-old-20200101T000000Z';
    made.git.run(made.root, 'update-ref', old, 'HEAD');
    made.git.run(made.root, 'update-ref', 'refs/watchkeeper/removed/foreign', 'HEAD');
    expect((await made.say(['list', '--removed'])).out).toContain(`, without a record: \`git log ${old}\`\n`);
    const { err, out: printed } = await made.end(['one', '--merge']);
    expect(err).toContain(`gone: ${old}`);
    const again = (await made.say(['list', '--removed'])).out;
    expect(again).toContain(`feature/one, removed just now, was in ${path}; the way back:\n`);
    expect(printed).toContain(again.slice(again.indexOf('the way back:')));
    expect([made.has(old), made.has('refs/watchkeeper/removed/foreign')]).toEqual([false, true]);
    const { out } = await made.say(['list']);
    expect(out).toContain('1 removed worktree kept for 30 days');
    made.git.run(made.root, 'update-ref', old, 'HEAD');
    put(join(made.memory, 'settings.json'), '{"removed_days":100000}');
    chmodSync(made.memory, 0o700);
    const start = (name: string) => made.say(['start', name, '--type', 'fix', '--yes']);
    expect([(await start('young')).code, made.has(old)]).toEqual([0, true]);
    put(join(made.memory, 'settings.json'), '{}');
    expect((await start('older')).err).toContain(`gone: ${old}`);
    expect(made.has(old)).toBe(false);
  });
});

describe('the branch', () => {
  test('stays with --keep-branch; only the folder goes', async () => {
    const tip = made.head(path);
    expect(await made.ended(['one', '--keep-branch'])).toMatchObject({ code: 0, kept: null, removed: true });
    expect(made.isGone(path)).toBe(true);
    expect(made.git.run(made.root, 'rev-parse', 'feature/one').trim()).toBe(tip);
  });

  test('of the remote goes with --remote only, and stays if others have added to it', async () => {
    made = new Ends();
    const remote = join(made.folder, 'remote');
    made.git.run(made.folder, 'clone', '-q', '--bare', made.root, remote);
    made.git.run(made.root, 'remote', 'add', 'origin', remote);
    const theirs = (branch: string) => made.git.say(remote, ['rev-parse', '--verify', '-q', branch]).code === 0;
    for (const name of ['one', 'two', 'three']) {
      const path = made.begun(`feature/${name}`);
      made.git.run(path, 'push', '-q', '-u', 'origin', `feature/${name}`);
    }
    await made.ended(['one', '--discard', 'one']);
    expect(theirs('feature/one')).toBe(true);
    expect((await made.ended(['two', '--discard', 'two', '--remote'])).code).toBe(0);
    expect(theirs('feature/two')).toBe(false);
    made.git.run(remote, 'update-ref', 'refs/heads/feature/three', 'main');
    const { err } = await made.end(['three', '--discard', 'three', '--remote']);
    expect(err).toContain('the branch feature/three of origin stays');
    expect(theirs('feature/three')).toBe(true);
  });
});

test('in a `.bare` container, also for the worktree in which git would be asked', async () => {
  made = new Ends();
  const home = join(made.folder, 'container');
  made.git.run(made.folder, 'clone', '-q', '--bare', made.root, join(home, '.bare'));
  const place = (name: string) => join(home, 'feature', name);
  for (const name of ['one', 'two']) {
    made.git.run(join(home, '.bare'), 'worktree', 'add', '-q', '-b', `feature/${name}`, place(name), 'main');
    put(join(place(name), `${name}.txt`), `${name}\n`);
    made.git.commitAll(place(name), name);
  }
  const tip = made.head(place('one'));
  const { code, way_back, commit } = await made.ended(['one', '--merge'], home);
  expect(code).toBe(0);
  expect(made.git.run(join(home, '.bare'), 'rev-parse', 'main').trim()).toBe(commit);
  expect(made.isGone(place('one'))).toBe(true);
  made.wayBack(way_back);
  expect(made.head(place('one'))).toBe(tip);
  expect((await made.ended(['two', '--discard', 'two'], home)).removed).toBe(true);
  expect((await made.ended(['one', '--merge'], home)).removed).toBe(true);
});

test('a secret of a session is not in the message', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  made.callIn(path, ['work', 'start', '--purpose', `Use ${secret}`]);
  const { reasons } = await made.ended(['one', '--merge']);
  const [, id = ''] = /--session (\S+?)`/.exec(reasons[0]?.remedy ?? '') ?? [];
  made.callIn(made.root, ['work', 'end', id, '--summary', `with ${secret}`]);
  const { code, commit } = await made.ended(['one', '--merge']);
  expect(code).toBe(0);
  expect(made.git.run(made.root, 'log', '-1', '--format=%B', commit ?? '')).not.toContain(secret);
});

test('what it is asked must be clear', async () => {
  const said = async (...args: string[]) => {
    const { code, err } = await made.end(args);
    return `${code} ${err}`;
  };
  expect(await said()).toContain('2 end NAME: which worktree?');
  expect(await said('one')).toContain('say one of --merge, --discard NAME and --keep-branch');
  expect(await said('one', '--merge', '--keep-branch')).toContain('2 end one: say one of');
  expect(await said('one', '--keep-branch', '--into', 'x')).toContain('2 --into and --message are for --merge');
  expect(await said('one', '--merged')).toContain('2 end --merged takes --yes');
  expect(await said('oen', '--merge')).toContain('2 no worktree is called "oen"');
  expect((await made.ended(['one', '--merge', '--into', 'nowhere'])).reasons).toMatchObject([
    { reason: 'not_mergeable' },
  ]);
});

/** @returns kind, mode and contents by path, the bytes of each name in hexadecimal */
function filesOf(root: string): Record<string, string> {
  const listed = made.git.say(root, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']).out.split('\0');
  const found: Record<string, string> = {};
  for (const name of listed) {
    const stat = lstatSync(join(root, name), { throwIfNoEntry: false });
    if (name === '' || stat === undefined || stat.isDirectory()) continue;
    const text = stat.isSymbolicLink() ? readlinkSync(join(root, name)) : readFileSync(join(root, name), 'hex');
    found[name] = `${stat.isSymbolicLink() ? 'link' : stat.mode.toString(8)} ${text}`;
  }
  return found;
}

test('`end --merged` shows those that are merged and free, and removes them with --yes', async () => {
  made = new Ends();
  const paths = Array.from({ length: 8 }, (_, at) => made.begun(`feature/n-${at}`));
  for (const at of [0, 1]) {
    made.git.run(made.root, 'merge', '-q', '--squash', `feature/n-${at}`);
    made.git.commitAll(made.root, `squash ${at}`);
    appendFileSync(join(made.root, `feature-n-${at}.txt`), 'more\n');
    made.git.commitAll(made.root, 'the target goes on');
  }
  for (const at of [2, 3, 4, 5]) made.git.run(made.root, 'merge', '-q', '--no-ff', '-m', 'm', `feature/n-${at}`);
  const [dirty = '', used = ''] = [paths[4], paths[5]];
  for (const name of ['fresh', 'old']) paths.push(made.add(`fix/${name}`));
  const [fresh, old] = paths.slice(8);
  const yesterday = Date.now() / 1_000 - 25 * 3_600;
  utimesSync(join(made.root, '.git/worktrees/fix-old/commondir'), yesterday, yesterday);
  appendFileSync(join(dirty, 'a.txt'), 'changed\n');
  await inside(used);
  const before = all();
  const shown = await made.end(['--merged']);
  expect(shown.code).toBe(1);
  const reasons = shown.out.match(/(?<=^merged, and nothing speaks against it: feature\/n-[0-3] \(\S+\): ).*$/gm);
  expect(reasons).toEqual(['squashed', 'squashed', 'in its history', 'in its history']);
  expect(shown.out).toContain('feature/n-4 stays, and nothing was changed: 1 reason');
  expect(shown.out).toContain(
    'fix/fresh stays, and nothing was changed: 1 reason\n- it was made just now, and nothing has been committed in it\n    → if it is not needed: `watchkeeper worktree end fix/fresh --merge`\n',
  );
  expect(shown.out).toContain(`merged, and nothing speaks against it: fix/old (${old}): the same commit\n`);
  expect(shown.out).toContain('nothing was removed: add --yes to remove 5');
  expect(await made.end(['--merged'], made.root, 'no')).toMatchObject({ code: 1, err: 'nothing was removed\n' });
  expect(all()).toEqual(before);
  const rest = () => paths.slice(4, -1).map((path) => everyFile(path));
  const untouched = rest();
  const done = await made.end(['--merged'], made.root, 'y');
  expect(done.code).toBe(0);
  expect(done.out).toContain('remove 5 worktrees? [y/N] ');
  expect(done.out.match(/^removed: /gm)).toHaveLength(5);
  expect(done.out).toMatch(/feature\/n-5 stays.*\n- sleep \(pid \d+\) works in it/);
  expect(paths.map((path) => existsSync(path))).toEqual(paths.map((path, at) => at >= 4 && path !== old));
  expect(rest()).toEqual(untouched);
  expect(made.has('feature/n-3')).toBe(false);
  expect(made.has('feature/n-6')).toBe(true);
  expect(existsSync(`${fresh}`)).toBe(true);
  expect(await made.end(['fresh', '--merge'])).toMatchObject({ code: 0 });
});
