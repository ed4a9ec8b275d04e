/**
 * What does `watchkeeper worktree list` cost beyond what git takes?
 *
 * Measured: the list of 50 worktrees, in this process: a third of them merged, a third squashed before the same lines were changed
 * again, a third open; the default branch has 300 commits since.
 * Yardstick: git asked for the same, one call after the other: a status of each, where each parted, and for those whose tip is not in the
 * history of the default branch a trial merge, the whole change as one commit, both lists of commits, and their differences. Those of
 * the default branch's commits are asked for once.
 * Target: at most 1.5 times the yardstick.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listWorktrees } from '../memory/worktrees/list.js';
import { repositoryAt } from '../memory/worktrees/place.js';
import { readProcessIdentity } from '../src/host/identity.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const WORKTREES = 50;
const FILES = 500;
const COMMITS_SINCE = 300;
const MOST_RATIO = 1.5;
const LIMITS = { rounds: 7, warmUpRounds: 1, limitMs: 120_000 };

await inScratchFolder(async (folder) => {
  const root = join(folder, 'work');
  const variables = { PATH: process.env.PATH, HOME: folder };
  const git = (directory: string, args: readonly string[], input = ''): string => {
    const words = ['-c', 'user.name=a', '-c', 'user.email=a', '-C', directory, ...args];
    const { status, stdout } = spawnSync('git', words, { encoding: 'utf8', input, env: variables });
    // A trial merge with conflicts exits with 1.
    if (status !== 0 && status !== 1) throw new Error(`git ${args.join(' ')} exits with ${status}`);
    return stdout;
  };
  const paths = makeWorktrees(root, git);
  const place = repositoryAt(root);
  if (place === null) throw new Error('no repository');
  const here = readProcessIdentity('bench');
  const list = () => {
    const found = listWorktrees(place, here, variables);
    const answers = found?.worktrees.flatMap(({ merged }) => merged?.why ?? []) ?? [];
    if (answers.length !== WORKTREES) throw new Error(`${answers.length} answers`);
    return answers;
  };
  const answers = list();
  const count = (why: string) => answers.filter((each) => each === why).length;
  say(`answers: ${[...new Set(answers)].map((why) => `${count(why)} ${why}`).join(', ')}`);
  const compared = await compare({
    ours: () => timed(list),
    yardstick: () => timed(() => askGit([root, ...paths], git)),
    ...LIMITS,
  });
  sayCompared(`a list of ${WORKTREES} worktrees`, 'the calls of git', compared);
  sayTarget({ what: 'times the calls of git', value: compared.ratio.median, atMost: MOST_RATIO, unit: '' });
});

type Git = (directory: string, args: readonly string[], input?: string) => string;

function askGit(paths: readonly string[], git: Git): void {
  const [root = ''] = paths;
  git(root, ['worktree', 'list', '--porcelain', '-z']);
  for (const path of paths) git(path, ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all']);
  const target = git(root, ['rev-list', '--max-count=500', 'main']);
  git(root, ['diff-tree', '--stdin', '-r', '--raw', '-z', '--no-renames'], target);
  for (const path of paths.slice(1)) {
    const tip = git(path, ['rev-parse', 'HEAD']).trim();
    const base = git(root, ['merge-base', 'main', tip]).trim();
    if (base === tip) continue;
    git(root, ['merge-tree', '--write-tree', '-z', '--name-only', 'main', tip]);
    const whole = git(root, ['commit-tree', '-p', base, '-m', 'whole', `${tip}^{tree}`]);
    git(root, ['rev-list', '--max-count=501', 'main', `^${tip}`]);
    const own = git(root, ['rev-list', '--max-count=501', tip, '^main']);
    git(root, ['diff-tree', '--stdin', '-r', '--raw', '-z', '--no-renames'], whole + own);
  }
}

/** @returns the paths of the worktrees */
function makeWorktrees(root: string, git: Git): string[] {
  mkdirSync(root);
  git(root, ['init', '-q', '-b', 'main']);
  for (let index = 0; index < FILES; index += 1) writeFileSync(join(root, `file-${index}`), `one\ntwo\nthree\n`);
  git(root, ['add', '-A']);
  git(root, ['commit', '-q', '-m', 'first']);
  const paths = Array.from({ length: WORKTREES }, (_, index) => join(`${root}.worktrees`, `feature-${index}`));
  for (const [index, path] of paths.entries()) {
    const branch = `feature/${index}`;
    git(root, ['worktree', 'add', '-q', '-b', branch, path]);
    if (index % 3 === 0) continue;
    for (const part of ['a', 'b']) {
      appendFileSync(join(path, `file-${index}`), `${part} of ${branch}\n`);
      git(path, ['commit', '-q', '-a', '-m', part]);
    }
    if (index % 3 === 1) continue;
    git(root, ['merge', '-q', '--squash', branch]);
    git(root, ['commit', '-q', '-m', `squash of ${branch}`]);
    writeFileSync(join(root, `file-${index}`), 'other\n');
    git(root, ['commit', '-q', '-a', '-m', 'changed again']);
  }
  for (let index = 0; index < COMMITS_SINCE; index += 1) {
    appendFileSync(join(root, `file-${index % FILES}`), `${index}\n`);
    git(root, ['commit', '-q', '-a', '-m', `${index}`]);
  }
  return paths;
}
