// covers: memory/worktrees/own.ts memory/worktrees/reflog.ts memory/worktrees/examine.ts memory/worktrees/include.ts memory/worktrees/conversions.ts
/** `watchkeeper worktree end` while git never answers one of its questions: what git does not say is never taken for nothing. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { removedWorktrees } from '../../../../memory/worktrees/records.js';
import { UnansweredGit, withoutEach } from '../../../memory/git/unansweredGit.js';
import { Ends, put } from './endScene.js';

const LIMIT_MS = 240_000;

/** A worktree to be ended, and a git that never answers some questions. */
class Unanswered extends Ends {
  readonly path = this.placeOf('feature/one');
  readonly asked: UnansweredGit;

  /** @param questions as of {@link UnansweredGit} */
  constructor(questions: readonly string[]) {
    super({ branches: ['feature/one'] });
    this.asked = new UnansweredGit(join(this.folder, 'failing'), questions);
  }

  async endedSo(args: readonly string[], isAnswered = false) {
    const { PATH } = this.variables;
    if (!isAnswered) Object.assign(this.variables, { PATH: [this.asked.folder, PATH].join(delimiter) });
    const { code, out, err } = await this.end([...args, '--json']);
    Object.assign(this.variables, { PATH });
    return { removed: false, way_back: [], ...(out === '' ? {} : JSON.parse(out)), code, err };
  }
}

test(
  'either stays, or comes back with what only a log, a ref of its own and its files had',
  async () => {
    let removed = 0;
    await withoutEach(async (questions) => {
      const scene = new Unanswered(questions);
      const { git, path, asked } = scene;
      git.run(scene.root, 'config', 'core.autocrlf', 'true');
      appendFileSync(join(path, 'a.txt'), 'with one end\nand another\r\n');
      put(join(path, 'new.txt'), 'new\r\n');
      // Git leaves files that have a CR as they are.
      put(join(path, 'lf.txt'), 'new\n');
      const amended = git.run(path, 'rev-parse', 'HEAD').trim();
      git.run(path, 'commit', '-q', '--amend', '-m', 'amended');
      put(join(path, 'words'), 'only a ref has them');
      const blob = git.run(path, 'hash-object', '-w', 'words').trim();
      git.run(path, 'update-ref', 'refs/worktree/mine', blob);
      const files = () =>
        ['a.txt', 'new.txt', 'lf.txt', 'words'].map((name) => readFileSync(join(path, name), 'latin1'));
      const before = files();
      let ended = await scene.endedSo(['one', '--discard', 'one']);
      // Cut off between its steps, it is finished by the same call once git answers.
      if (!ended.removed && !existsSync(path)) ended = await scene.endedSo(['one', '--discard', 'one'], true);
      if (ended.removed) {
        removed += 1;
        scene.wayBack(ended.way_back);
      }
      expect(files()).toEqual(before);
      expect(git.run(path, 'rev-parse', 'refs/worktree/mine').trim()).toBe(blob);
      const reached = git.run(path, 'rev-list', '--all', '--reflog').split('\n');
      expect(reached).toContain(amended);
      return asked;
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
    await withoutEach(async (questions) => {
      const scene = new Unanswered(questions);
      make(scene);
      for (const way of [['--keep-branch'], ['--merge']])
        expect((await scene.endedSo(['one', ...way])).removed).toBe(false);
      expect(existsSync(scene.path)).toBe(true);
      return scene.asked;
    });
  },
  LIMIT_MS,
);

test('a branch that git neither removes nor denies stays, and the way back does not make it', async () => {
  const deed = ' -C  --git-dir= -c core.hooksPath=';
  const [removes, asks] = [`${deed} update-ref --no-deref -d refs OBJECT`, `${deed} rev-parse --verify -q refs`];
  const scene = new Unanswered([removes, asks]);
  const ended = await scene.endedSo(['one', '--discard', 'one']);
  expect(scene.asked.questions).toContain(asks);
  expect(ended).toMatchObject({ removed: true, branch_removed: false });
  expect(ended.err).toContain('the branch feature/one stays: git did not remove it');
  expect(removedWorktrees(join(scene.root, '.git'))).toMatchObject([{ branch: 'feature/one', tip: null }]);
  scene.wayBack(ended.way_back);
  expect(existsSync(scene.path)).toBe(true);
});

test(
  'no other branch is taken for the default one: none is merged into, and the default one is not discarded',
  async () => {
    let merged = 0;
    await withoutEach(async (questions) => {
      const scene = new Unanswered(questions);
      const { git, root } = scene;
      git.run(root, 'switch', '-q', '-c', 'trunk');
      const before = scene.head();
      const { removed } = await scene.endedSo(['one', '--merge']);
      merged += removed ? 1 : 0;
      expect(scene.head()).toBe(before);
      git.run(root, 'worktree', 'add', '-q', join(scene.folder, 'm'), 'main');
      expect((await scene.endedSo(['main', '--discard', 'main'])).removed).toBe(false);
      return scene.asked;
    });
    expect(merged).toBeGreaterThan(1);
  },
  LIMIT_MS,
);
