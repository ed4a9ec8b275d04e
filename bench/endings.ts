/**
 * What do `watchkeeper worktree start` and the checks of `worktree end` cost beyond what git takes?
 *
 * Measured, both in this process: a worktree of a repository of 2,000 files is made, with 20 ignored files that `.worktreeinclude` names;
 * all reasons are gathered against the merge of one that has a change, and the default branch has 300 commits since it began.
 * Yardsticks: `git worktree add` and a copy of the same files; git asked for the same, one call after the other: which branch is the
 * default one, the status of the worktree and of the one where it is merged, ignored files and those that are included, what is staged,
 * where both parted, a trial merge, the whole change as one commit, both lists of commits with their differences, what the merge
 * would add, and who its author and committer would be.
 * Targets: at most 1.3 times and 1.5 times their yardsticks.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Memory } from '../memory/sessions/memory.js';
import { end } from '../memory/verbs/endWorktree.js';
import { start } from '../memory/verbs/startWorktree.js';
import { ask } from '../memory/verbs/verb.js';
import { readProcessIdentity } from '../src/host/identity.js';
import { redactShapes } from '../src/log/redact.js';
import { systemClock } from '../src/time.js';
import { SILENT_DOOR } from './door.js';
import { sayCompared, sayTarget } from './report.js';
import { compare, timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const FILES = 2_000;
const FOLDERS = 40;
const INCLUDED = 20;
const COMMITS_SINCE = 300;
const MOST_OF_START = 1.3;
const MOST_OF_CHECKS = 1.5;
const LIMITS = { rounds: 15, warmUpRounds: 2, limitMs: 120_000 };
const BRANCH = 'feature/measured';
const PATTERNS = ['.env', '*.local'];
const names = Array.from({ length: INCLUDED }, (_, index) => (index === 0 ? '.env' : `part${index}/settings.local`));

await inScratchFolder(async (folder) => {
  const root = join(folder, 'work');
  const variables = { PATH: process.env.PATH ?? '', HOME: folder, WATCHKEEPER_HOME: join(folder, 'home') };
  const git: Git = (directory, args, input = '') => {
    const words = ['-C', directory, ...args];
    const { status, stdout, stderr } = spawnSync('git', words, { encoding: 'utf8', input, env: variables });
    if (status !== 0) throw new Error(`git ${args.join(' ')} exits with ${status}: ${stderr}`);
    return stdout;
  };
  const path = makeScene(root, git);
  const memory = new Memory({
    surroundings: { variables, directory: root, process: readProcessIdentity('bench') },
    ...{ folder: null, clock: systemClock, redact: redactShapes },
  });
  await compareStarts(memory, root, git);
  await compareChecks(memory, { root, path }, git);
});

type Git = (directory: string, args: readonly string[], input?: string) => string;

async function compareStarts(memory: Memory, root: string, git: Git): Promise<void> {
  let made = 0;
  const ours = async () => {
    const name = `ours-${made++}`;
    const { verdict, value } = await ask(start, memory, { name, type: 'feature', yes: true }, SILENT_DOOR);
    if (verdict !== undefined) throw new Error(`${name}: ${JSON.stringify(value)}`);
  };
  const yardstick = () => {
    const path = join(`${root}.bare`, `${made++}`);
    git(root, ['worktree', 'add', '--no-track', '-b', `bare/${made}`, path, 'main']);
    for (const name of names) copyFileSync(join(root, name), join(path, name));
  };
  const compared = await compare({ ours: () => timed(ours), yardstick: () => timed(yardstick), ...LIMITS });
  sayCompared(`a start in a repository of ${FILES} files`, 'git worktree add and copying', compared);
  sayTarget({ what: 'times git and copying', value: compared.ratio.median, atMost: MOST_OF_START, unit: '' });
}

interface Places {
  readonly root: string;
  readonly path: string;
}

async function compareChecks(memory: Memory, places: Places, git: Git): Promise<void> {
  const ours = async () => {
    const { value } = await ask(end, memory, { name: BRANCH, merge: true }, SILENT_DOOR);
    const reasons = Object(value).reasons.map(({ reason }: { readonly reason: string }) => reason);
    if (reasons.join() !== 'changes') throw new Error(`reasons: ${reasons.join()}`);
  };
  const compared = await compare({
    ours: () => timed(ours),
    yardstick: () => timed(() => askGit(places, git)),
    ...LIMITS,
  });
  sayCompared('the checks before an end', 'the calls of git', compared);
  sayTarget({ what: 'times the calls of git', value: compared.ratio.median, atMost: MOST_OF_CHECKS, unit: '' });
}

function askGit({ root, path }: Places, git: Git): void {
  const status = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all', '--no-renames'];
  git(root, ['worktree', 'list', '--porcelain', '-z']);
  git(root, ['for-each-ref', 'refs/heads/main', 'refs/remotes/*/HEAD', 'refs/remotes/*/main']);
  git(path, status);
  git(path, ['ls-files', '-s', '-v', '-z']);
  for (const patterns of [['--exclude-standard'], PATTERNS.map((pattern) => `--exclude=${pattern}`)])
    git(path, ['ls-files', '-z', '--others', '--ignored', ...patterns]);
  const [base = '', tip = ''] = [git(root, ['merge-base', 'main', BRANCH]), git(path, ['rev-parse', 'HEAD'])].map(
    (line) => line.trim(),
  );
  const tree = git(root, ['merge-tree', '--write-tree', '-z', '--name-only', 'main', tip]).split('\0')[0] ?? '';
  const whole = git(root, ['commit-tree', '-p', base, '-m', 'whole', `${tip}^{tree}`]);
  const since = git(root, ['rev-list', '--max-count=5001', 'main', `^${tip}`]);
  const own = git(root, ['rev-list', '--max-count=5001', tip, '^main']);
  git(root, ['diff-tree', '--stdin', '-r', '--raw', '-z', '--no-renames'], whole + since + own);
  git(root, status);
  git(root, ['diff-tree', '-r', '-z', '--name-only', '--diff-filter=A', 'main', tree]);
  git(root, ['ls-files', '-z']);
  for (const identity of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) git(root, ['var', identity]);
}

/** @returns the path of the worktree that is not ended */
function makeScene(root: string, git: Git): string {
  mkdirSync(root);
  git(root, ['init', '-q', '-b', 'main']);
  for (const key of ['user.name', 'user.email']) git(root, ['config', key, 'a']);
  for (let index = 0; index < FOLDERS; index += 1) mkdirSync(join(root, `part${index}`));
  for (let index = 0; index < FILES; index += 1)
    writeFileSync(
      join(root, `part${index % FOLDERS}`, `file${index}.ts`),
      `// ${index}\n${'const one = two(three);\n'.repeat(100)}`,
    );
  writeFileSync(join(root, '.gitignore'), `${PATTERNS.join('\n')}\nbuilt/\n`);
  writeFileSync(join(root, '.worktreeinclude'), `${PATTERNS.join('\n')}\n`);
  for (const name of names) writeFileSync(join(root, name), `KEY=${name}\n`);
  git(root, ['add', '-A']);
  git(root, ['commit', '-q', '-m', 'first']);
  const path = join(`${root}.worktrees`, 'feature-measured');
  git(root, ['worktree', 'add', '-q', '-b', BRANCH, path]);
  for (const name of names) copyFileSync(join(root, name), join(path, name));
  for (const part of ['a', 'b']) {
    appendFileSync(join(path, 'part0/file0.ts'), `// ${part}\n`);
    writeFileSync(join(path, `${part}.ts`), `// ${part}\n`);
    git(path, ['add', '-A']);
    git(path, ['commit', '-q', '-m', part]);
  }
  writeFileSync(join(path, 'part1/file1.ts'), '// changed\n');
  for (let index = 0; index < COMMITS_SINCE; index += 1) {
    appendFileSync(join(root, 'part2/file2.ts'), `// ${index}\n`);
    git(root, ['commit', '-q', '-a', '-m', `${index}`]);
  }
  return path;
}
