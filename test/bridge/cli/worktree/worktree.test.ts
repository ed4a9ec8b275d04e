// covers: memory/verbs/worktrees.ts memory/show/worktreeWords.ts
/** What `watchkeeper worktree` prints, for a person and for a program. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { put } from '../../../memory/git/plainGit.js';
import { everyFile, Worktrees } from '../../../memory/worktrees/scene.js';
import { WorkScene } from '../work/scene.js';

let made: Worktrees;
let scene: WorkScene;

beforeEach(() => {
  made = new Worktrees();
  scene = new WorkScene();
});

const caller = (where = made.root) => ({ where, variables: made.git.variables });
const say = (args: readonly string[], where?: string) => scene.say('worktree', args, caller(where));
const listed = async (...more: string[]) => scene.json('worktree', ['list', ...more], caller());

/** @returns the row of a branch, with single spaces */
function rowOf(out: string, branch: string): string {
  return (
    out
      .split('\n')
      .find((line) => line.startsWith(`${branch} `))
      ?.replaceAll(/ +/g, ' ') ?? ''
  );
}

describe('list', () => {
  test('has a row for each worktree, and a line for what a row has no room for', async () => {
    const one = made.add('feature/one');
    const two = made.add('fix/two');
    put(join(one, 'new.txt'), 'new\n');
    put(join(one, 'a.txt'), 'changed\n');
    put(join(two, 'b.txt'), 'side\n');
    made.git.commitAll(two, 'side');
    put(join(made.root, 'b.txt'), 'main\n');
    made.git.commitAll(made.root, 'main');
    made.git.run(made.root, 'worktree', 'lock', '--reason', 'claude session fox (pid 4000000 start 12)', two);
    const lost = made.add('docs/three');
    rmSync(lost, { recursive: true });
    const { code, out } = await say(['list']);
    expect(code).toBe(0);
    expect(rowOf(out, 'main')).toMatch(/^main clean - just now -$/);
    expect(rowOf(out, 'feature/one')).toMatch(/^feature\/one 1 changed, 1 new yes: in its history just now -$/);
    expect(rowOf(out, 'fix/two')).toMatch(/^fix\/two clean no: would conflict just now -$/);
    expect(rowOf(out, 'docs/three')).toMatch(/^docs\/three leftover yes: the same commit just now -$/);
    expect(out).toContain('fix/two: locked by Claude Code (pid 4000000), which is gone\n');
    expect(out).toContain(
      `docs/three: git has registered it, but ${lost} is not there: deleted, moved, or on a disk that is not there now\n`,
    );
    expect(out).toMatch(/^BRANCH +CHANGES +MERGED INTO main /);
  });

  test('cuts no folder, because those of one repository differ at their ends', async () => {
    const long = 'so-long-a-name-that-no-line-of-a-terminal-has-room-for-all-of-its-folder';
    const paths = ['one', 'two'].map((end) => made.add(`feature/${long}-${end}`));
    const { out } = await say(['list']);
    for (const path of paths) expect(out).toContain(`${path}\n`);
  });

  test('names sessions, and who holds a worktree', async () => {
    const one = made.add('feature/one');
    const begun = await scene.json('work', ['start', '--purpose', 'Paint the door'], caller(one));
    const { out } = await say(['list']);
    expect(rowOf(out, 'feature/one')).toMatch(/ 1 session$/);
    expect(out).toContain(`feature/one: session ${begun.session_id} holds it, without an agent: Paint the door\n`);
    expect((await listed()).worktrees[1].sessions).toMatchObject([{ session_id: begun.session_id, holds: true }]);
  });

  test('gives programs everything, with its id, and changes no byte', async () => {
    const one = made.add('feature/one');
    put(join(one, 'new.txt'), 'new\n');
    const before = everyFile(made.folder);
    const value = await listed('--size');
    expect(value).toMatchObject({
      repository: expect.stringMatching(/^repo_[0-9a-f]{16}$/),
      home: made.root,
      base: { branch: 'main', name: 'main', behind: null },
      worktrees: [
        { path: made.root, is_main: true, is_here: true, merged: null },
        {
          ...{
            path: one,
            branch: 'feature/one',
            is_main: false,
            is_here: false,
            operation: null,
            lock: null,
            ghost: null,
          },
          dirt: { tracked: { count: 0, files: [] }, untracked: { count: 1, files: ['new.txt'] } },
          merged: { merged: 'yes', why: 'same', now: 'nothing' },
          ...{ sessions: [], agents: [], processes: [], size_bytes: expect.any(Number) },
        },
      ],
    });
    expect(everyFile(made.folder)).toEqual(before);
  });

  test('says that a merged branch would still change something', async () => {
    const one = made.add('feature/one');
    put(join(one, 'new.txt'), 'new\n');
    made.git.commitAll(one, 'new');
    made.git.run(made.root, 'merge', '-q', '--squash', 'feature/one');
    made.git.commitAll(made.root, 'squash');
    made.git.run(made.root, 'revert', '--no-edit', 'HEAD');
    expect(rowOf((await say(['list'])).out, 'feature/one')).toContain('yes: squashed; would change files again');
  });
});

describe('path', () => {
  test('prints the folder alone, from anywhere in the repository', async () => {
    const one = made.add('feature/one');
    for (const name of ['feature/one', 'one', 'feature-one', one])
      expect(await say(['path', name], join(made.root, 'sub'))).toMatchObject({ code: 0, out: `${one}\n` });
    expect(await scene.json('worktree', ['path', 'one'], caller())).toEqual({ path: one });
  });

  test('refuses a name that is unknown, unclear, or missing, and a folder that is gone', async () => {
    const one = made.add('feature/login');
    const other = made.add('fix/login');
    const unknown = await say(['path', 'feature/logon']);
    expect(unknown).toMatchObject({ code: 2, out: '' });
    expect(unknown.err).toContain('did you mean "feature/login"?');
    const unclear = await say(['path', 'login']);
    expect(unclear).toMatchObject({ code: 2, out: '' });
    expect(unclear.err).toContain(`${one}\n  ${other}`);
    expect((await say(['path'])).code).toBe(2);
    rmSync(one, { recursive: true });
    expect(await say(['path', 'feature/login'])).toMatchObject({ code: 2, out: '' });
  });
});

test('outside of a repository, and without git, it is said', async () => {
  const plain = join(made.folder, 'plain');
  mkdirSync(plain);
  const outside = await say(['list'], plain);
  expect(outside).toMatchObject({ code: 2, err: expect.stringContaining('is in no git repository') });
  const none = { where: made.root, variables: { ...made.git.variables, PATH: plain } };
  const without = await scene.say('worktree', ['list'], none);
  expect(without).toMatchObject({ code: 3, err: expect.stringContaining('is it installed') });
});
