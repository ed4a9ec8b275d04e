// covers: memory/worktrees/own.ts memory/worktrees/reflog.ts memory/worktrees/examine.ts memory/worktrees/include.ts memory/worktrees/conversions.ts
/** `watchkeeper worktree end` while git never answers one of its questions: what git does not say is never taken for nothing. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { removedWorktrees } from '../../../../memory/worktrees/records.js';
import { UnansweredGit, withoutEach } from '../../../memory/git/unansweredGit.js';
import { Ends, type Prepared, put } from './endScene.js';

const LIMIT_MS = 240_000;

/** A worktree to be ended, and a git that never answers some questions. */
class Unanswered extends Ends {
  readonly path = this.placeOf('feature/one');
  #asked: UnansweredGit | null = null;

  constructor(prepared?: Prepared) {
    super({ branches: ['feature/one'], ...(prepared && { prepared }) });
  }

  get asked(): UnansweredGit {
    if (this.#asked === null) throw new Error('git was asked nothing');
    return this.#asked;
  }

  /** @param questions as of {@link UnansweredGit}; null if git answers all */
  async endedSo(args: readonly string[], questions: readonly string[] | null) {
    const { PATH } = this.variables;
    if (questions !== null) {
      this.#asked = new UnansweredGit(join(this.folder, 'failing'), questions);
      Object.assign(this.variables, { PATH: [this.asked.folder, PATH].join(delimiter) });
    }
    const { code, out, err } = await this.end([...args, '--json']);
    Object.assign(this.variables, { PATH });
    return { removed: false, way_back: [], ...(out === '' ? {} : JSON.parse(out)), code, err };
  }
}

const FILES = ['a.txt', 'new.txt', 'lf.txt', 'words'];

/** What only a log, a ref of the worktree and its files have. */
const ONLY_THERE: Prepared = {
  name: 'only there',
  prepare(made) {
    const { git, root } = made;
    const path = made.placeOf('feature/one');
    git.run(root, 'config', 'core.autocrlf', 'true');
    appendFileSync(join(path, 'a.txt'), 'with one end\nand another\r\n');
    put(join(path, 'new.txt'), 'new\r\n');
    // Git leaves files that have a CR as they are.
    put(join(path, 'lf.txt'), 'new\n');
    git.run(path, 'commit', '-q', '--amend', '-m', 'amended');
    put(join(path, 'words'), 'only a ref has them');
    git.run(path, 'update-ref', 'refs/worktree/mine', git.run(path, 'hash-object', '-w', 'words').trim());
  },
};

test(
  'either stays, or comes back with what only a log, a ref of its own and its files had',
  async () => {
    const one = new Unanswered(ONLY_THERE);
    const amended = one.git.run(one.path, 'rev-parse', 'HEAD@{1}').trim();
    const blob = one.git.run(one.path, 'rev-parse', 'refs/worktree/mine').trim();
    let removed = 0;
    await withoutEach(async (questions) => {
      const scene = new Unanswered(ONLY_THERE);
      const { git, path } = scene;
      const files = () => FILES.map((name) => readFileSync(join(path, name), 'latin1'));
      const before = files();
      let ended = await scene.endedSo(['one', '--discard', 'one'], questions);
      // Cut off between its steps, it is finished by the same call once git answers.
      if (!ended.removed && !existsSync(path)) ended = await scene.endedSo(['one', '--discard', 'one'], null);
      if (ended.removed) {
        removed += 1;
        scene.wayBack(ended.way_back);
      }
      expect(files()).toEqual(before);
      expect(git.run(path, 'rev-parse', 'refs/worktree/mine').trim()).toBe(blob);
      const reached = git.run(path, 'rev-list', '--all', '--reflog').split('\n');
      expect(reached).toContain(amended);
      return scene.asked;
    });
    expect(removed).toBeGreaterThan(1);
  },
  LIMIT_MS,
);

test.each<[string, (scene: Unanswered) => void]>([
  ['a repository among its ignored files', ({ git, path }) => git.repository(join(path, 'inner.ignored'))],
  [
    'an included file of its own',
    ({ root, path }) => {
      put(join(root, '.worktreeinclude'), '.env\n');
      put(join(root, '.env'), 'KEY=1\n');
      put(join(path, '.env'), 'KEY=2\n');
    },
  ],
])(
  'stays with %s',
  async (_, make) => {
    // Nothing is changed as long as it stays, so one scene is enough.
    const scene = new Unanswered();
    make(scene);
    for (const way of ['--keep-branch', '--merge'])
      await withoutEach(async (questions) => {
        expect((await scene.endedSo(['one', way], questions)).removed).toBe(false);
        expect(existsSync(scene.path)).toBe(true);
        return scene.asked;
      });
  },
  LIMIT_MS,
);

test('a branch that git neither removes nor denies stays, and the way back does not make it', async () => {
  const deed = ' -C  --git-dir= -c core.hooksPath=';
  const [removes, asks] = [`${deed} update-ref --no-deref -d refs OBJECT`, `${deed} rev-parse --verify -q refs`];
  const scene = new Unanswered();
  const ended = await scene.endedSo(['one', '--discard', 'one'], [removes, asks]);
  expect(scene.asked.questions).toContain(asks);
  expect(ended).toMatchObject({ removed: true, branch_removed: false });
  expect(ended.err).toContain('the branch feature/one stays: git did not remove it');
  expect(removedWorktrees(join(scene.root, '.git'))).toMatchObject([{ branch: 'feature/one', tip: null }]);
  scene.wayBack(ended.way_back);
  expect(existsSync(scene.path)).toBe(true);
});

const ON_TRUNK: Prepared = {
  name: 'on trunk',
  prepare: ({ git, root }) => void git.run(root, 'switch', '-q', '-c', 'trunk'),
};

test(
  'no other branch is taken for the default one: none is merged into',
  async () => {
    let merged = 0;
    await withoutEach(async (questions) => {
      const scene = new Unanswered(ON_TRUNK);
      const before = scene.head();
      const { removed } = await scene.endedSo(['one', '--merge'], questions);
      merged += removed ? 1 : 0;
      expect(scene.head()).toBe(before);
      return scene.asked;
    });
    expect(merged).toBeGreaterThan(1);
  },
  LIMIT_MS,
);

test(
  'the default branch is not taken for another one: it is not discarded',
  async () => {
    const scene = new Unanswered(ON_TRUNK);
    const path = join(scene.folder, 'm');
    scene.git.run(scene.root, 'worktree', 'add', '-q', path, 'main');
    await withoutEach(async (questions) => {
      expect((await scene.endedSo(['main', '--discard', 'main'], questions)).removed).toBe(false);
      expect([existsSync(path), scene.has('refs/heads/main')]).toEqual([true, true]);
      return scene.asked;
    });
  },
  LIMIT_MS,
);
