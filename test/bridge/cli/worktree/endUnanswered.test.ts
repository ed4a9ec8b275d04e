// covers: memory/worktrees/own.ts memory/worktrees/reflog.ts memory/worktrees/examine.ts memory/worktrees/include.ts memory/worktrees/conversions.ts
/** `watchkeeper worktree end` while git never answers one of its questions: what git does not say is never taken for nothing. */
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { removedWorktrees } from '../../../../memory/worktrees/records.js';
import { pathWith } from '../../../harness/searchPath.js';
import { Ends, put } from './endScene.js';

const LIMIT_MS = 240_000;

/** A git that never answers some questions, and notes all. */
class Unanswered extends Ends {
  readonly path = this.placeOf('feature/one');
  readonly #place = join(this.folder, 'failing');
  readonly #calls = join(this.#place, 'calls');

  /** @param questions the plain words of calls */
  constructor(...questions: readonly string[]) {
    super({ branches: ['feature/one'] });
    mkdirSync(this.#place);
    writeFileSync(this.#calls, '');
    const git = join(pathWith('git'), 'git');
    const program = join(this.#place, 'git');
    // The plain words of a call are those without what differs from scene to scene: paths and objects.
    writeFileSync(
      program,
      `#!/bin/sh
words=
for word in "$@"; do
  [ \${#word} = 40 ] && word=OBJECT
  words="$words \${word%%/*}"
done
printf '%s\n' "$words" >> '${this.#calls}'
case '${questions.map((question) => `|${question}|`).join('')}' in *"|$words|"*) exit 128;; esac
exec '${git}' "$@"
`,
    );
    chmodSync(program, 0o755);
  }

  get questions(): Set<string> {
    return new Set(readFileSync(this.#calls, 'utf8').split('\n').filter(Boolean));
  }

  async endedSo(args: readonly string[], isAnswered = false) {
    const { PATH } = this.variables;
    if (!isAnswered) Object.assign(this.variables, { PATH: [this.#place, PATH].join(delimiter) });
    const { code, out, err } = await this.end([...args, '--json']);
    Object.assign(this.variables, { PATH });
    return { removed: false, way_back: [], ...(out === '' ? {} : JSON.parse(out)), code, err };
  }
}

/** Calls `act` with all questions answered, and then without an answer to each. */
async function withoutEach(act: (scene: Unanswered) => Promise<void>): Promise<void> {
  const first = new Unanswered();
  await act(first);
  expect(first.questions.size).toBeGreaterThan(5);
  for (const question of first.questions)
    await act(new Unanswered(question)).catch((error: unknown) => {
      throw new Error(`without an answer to ${question}: ${error}`);
    });
}

test(
  'either stays, or comes back with what only a log, a ref of its own and its files had',
  async () => {
    let removed = 0;
    await withoutEach(async (scene) => {
      const { git, path } = scene;
      git.run(scene.root, 'config', 'core.autocrlf', 'true');
      appendFileSync(join(path, 'a.txt'), 'with one end\nand another\r\n');
      put(join(path, 'new.txt'), 'new\r\n');
      const amended = git.run(path, 'rev-parse', 'HEAD').trim();
      git.run(path, 'commit', '-q', '--amend', '-m', 'amended');
      put(join(path, 'words'), 'only a ref has them');
      const blob = git.run(path, 'hash-object', '-w', 'words').trim();
      git.run(path, 'update-ref', 'refs/worktree/mine', blob);
      const files = () => ['a.txt', 'new.txt', 'words'].map((name) => readFileSync(join(path, name), 'latin1'));
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
    await withoutEach(async (scene) => {
      make(scene);
      for (const way of [['--keep-branch'], ['--merge']])
        expect((await scene.endedSo(['one', ...way])).removed).toBe(false);
      expect(existsSync(scene.path)).toBe(true);
    });
  },
  LIMIT_MS,
);

test('a branch that git neither removes nor denies stays, and the way back does not make it', async () => {
  const deed = ' -C  --git-dir= -c core.hooksPath=';
  const [removes, asks] = [`${deed} update-ref --no-deref -d refs OBJECT`, `${deed} rev-parse --verify -q refs`];
  const scene = new Unanswered(removes, asks);
  const ended = await scene.endedSo(['one', '--discard', 'one']);
  expect(scene.questions).toContain(asks);
  expect(ended).toMatchObject({ removed: true, branch_removed: false });
  expect(ended.err).toContain('the branch feature/one stays: git did not remove it');
  expect(removedWorktrees(join(scene.root, '.git'))).toMatchObject([{ branch: 'feature/one', tip: null }]);
  scene.wayBack(ended.way_back);
  expect(existsSync(scene.path)).toBe(true);
});
