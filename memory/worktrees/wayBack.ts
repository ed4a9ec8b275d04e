/** The commands that bring a removed worktree back. */
import { existsSync } from 'node:fs';
import { shellWord } from '../../src/log/shellWords.js';
import { CONFLICTS_FILE } from './contents.js';
import type { OwnFile } from './own.js';

const LOCAL = 'refs/heads/';

/** A removed worktree, as far as the way back needs it. */
export interface Removed {
  readonly path: string;
  /** Null if none was checked out. */
  readonly branch: string | null;
  /** The commit at which the branch goes; null if it stays. */
  readonly tip: string | null;
  /** The ref that keeps the contents; null if other branches have all of them. */
  readonly kept: string | null;
  /** The commit that was checked out; null before the first one. */
  readonly head: string | null;
  /** Whether the ref has files and an index, and not only the commit that was checked out. */
  readonly has_files: boolean;
  readonly has_conflicts: boolean;
  /** Whether it has commits that only a log knew. */
  readonly has_forgotten: boolean;
  /** Programs that would convert the kept files, which are as they were on the disk; null if git would write all of them as they are. */
  readonly filters: readonly string[] | null;
  /** What git had for this worktree alone. */
  readonly own_files: readonly OwnFile['name'][];
  /** Whether files that no pattern names were left out of its folder. */
  readonly is_sparse: boolean;
  /** Whether its commit comes back without the branch, which may be checked out elsewhere or at another commit. */
  readonly is_detached: boolean;
  /** Git's folder for it, which goes before its branch. */
  readonly folder: string;
}

/** Git would take the patterns of another worktree over, and leave files out. */
const ALL_FILES = ' -c core.sparseCheckout=false';
/** Git ends with the fault of a hook, and no step after it would run. */
const NO_HOOKS = ' -c core.hooksPath=/dev/null';
/** Where the shared settings call the repository bare, git takes the new worktree for bare, too, until it has settings of its own. */
const HAS_FILES = ' --work-tree=.';

/**
 * An option is put between a name and a commit: after a name such as `login` the commit would be taken for a secret, and not be printed.
 * @param home a directory of the repository that stays
 * @param isCutOff whether its removal is not finished: as long as git has it registered, its branch is there, and git wants to be forced
 * @returns the lines of one command for a shell, which brings it back. If a step fails, none after it runs: it would write into what is
 *   there instead, such as newer work in the same folder, or a repository around it
 */
export function wayBack(removed: Removed, home: string, isCutOff = false): string[] {
  const steps = stepsBack(removed, home, isCutOff);
  return steps.map((step, index) => (index < steps.length - 1 ? `${step} &&` : step));
}

function stepsBack(removed: Removed, home: string, isCutOff: boolean): string[] {
  const { path, branch, kept: ref, head, has_files, filters, is_detached } = removed;
  const isRegistered = isCutOff && existsSync(removed.folder);
  const force = isRegistered ? ' --force --force' : '';
  const [git, there] = [`git -C ${shellWord(home)}`, `git -C ${shellWord(path)}`];
  const isWhole = !has_files || ref === null;
  const tip = head === null ? null : isWhole ? (ref ?? head) : `${ref}^1`;
  const unfiltered = filters === null ? '' : filters.map(withoutFilter).join('');
  const making = `${git}${isWhole ? '' : NO_HOOKS + ALL_FILES}${head === null ? unfiltered : ''} worktree add${force} ${shellWord(path)}`;
  const add = [
    ...(branch !== null && removed.tip !== null && tip !== null && !isRegistered
      ? [`${git} branch ${shellWord(branch)} --no-track ${tip}`]
      : []),
    branch !== null && head !== null && !is_detached
      ? `${making} ${shellWord(branch)}`
      : `${making} --detach ${tip ?? ref}`,
    ...(branch !== null && head === null ? [`${there} symbolic-ref HEAD ${shellWord(LOCAL + branch)}`] : []),
  ];
  if (isWhole) return add;
  return [
    ...add,
    `${there}${ALL_FILES}${HAS_FILES}${unfiltered} read-tree --reset -u ${ref}`,
    ...(filters === null ? [] : [asTheyWere(path, ref, head)]),
    ...theRest(removed, ref, git),
  ];
}

/** @returns the commands for all but the files */
function theRest(
  { path, head, has_conflicts, has_forgotten, own_files, is_sparse }: Removed,
  ref: string,
  git: string,
) {
  const there = `git -C ${shellWord(path)}`;
  const number = head === null ? 1 : 2;
  const rest = `${ref}^${number + 1}`;
  const print = (name: string) => `git cat-file blob ${rest}:${name}`;
  const inFolder = (...commands: string[]) => `(cd ${shellWord(path)} && ${commands.join(' && ')})`;
  const mark = (flag: 'assume-unchanged' | 'skip-worktree') =>
    inFolder(`${print(flag)} | git${HAS_FILES} update-index -z --${flag} --stdin`);
  const ofOwn: Readonly<Record<OwnFile['name'], string>> = {
    'intent-to-add': inFolder(
      `${print('intent-to-add')} | xargs -0 git${ALL_FILES}${HAS_FILES} --literal-pathspecs add --force --intent-to-add --`,
    ),
    'config.worktree': inFolder(`${print('config.worktree')} > ${FOLDER}/config.worktree`),
    'sparse-checkout': inFolder(
      `mkdir -p ${FOLDER}/info`,
      `${print('sparse-checkout')} > ${FOLDER}/info/sparse-checkout`,
      // Git leaves out only files that it knows to be unchanged.
      ...(is_sparse ? ['git status --short', 'git sparse-checkout reapply'] : []),
    ),
    refs: inFolder(`${print('refs')} | git update-ref --stdin`),
    'assume-unchanged': mark('assume-unchanged'),
    'skip-worktree': mark('skip-worktree'),
  };
  return [
    `${there} read-tree ${ref}^${number}`,
    ...(has_conflicts ? [inFolder(`${print(CONFLICTS_FILE)} | git update-index -z --index-info`)] : []),
    ...own_files.map((name) => ofOwn[name]),
    ...(has_forgotten ? [`${git} log ${rest}`] : []),
  ];
}

/** Git's folder for the worktree. */
const FOLDER = '"$(git rev-parse --absolute-git-dir)"';

function withoutFilter(name: string): string {
  return ` -c filter.${name}.smudge= -c filter.${name}.process= -c filter.${name}.required=false`;
}

/** Git has converted the files that it has just written. Links have no contents, and are as they were. */
function asTheyWere(path: string, ref: string, head: string | null): string {
  const files =
    head === null
      ? `git ls-tree -r -z --name-only ${ref}`
      : `git diff-tree -r -z --name-only --no-renames --diff-filter=d ${ref}^1 ${ref}`;
  const each = `for file; do [ -h "$file" ] || [ ! -f "$file" ] || git cat-file blob "${ref}:$file" > "$file"; done`;
  return `(cd ${shellWord(path)} && ${files} | xargs -0 sh -c '${each}' -)`;
}
