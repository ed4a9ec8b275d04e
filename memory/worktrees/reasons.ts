/** The reasons of git against the removal of a worktree. All are found at once, and no byte of the repository is changed. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../../src/counted.js';
import { shellWord } from '../../src/log/shellWords.js';
import type { Refusal } from '../git/refusal.js';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { conversionsOf } from './conversions.js';
import type { Dirt } from './dirt.js';
import { entryAt } from './entry.js';
import { differingFiles } from './include.js';
import { isBranchName } from './records.js';
import { repositoriesAmong } from './repositories.js';
import { initialisedAmong, together } from './submodules.js';
import type { Worktree } from './worktree.js';

/** `merge`: its change goes into the target. `discard`: it goes nowhere. `keep_branch`: only the folder goes. */
export type Way = 'merge' | 'discard' | 'keep_branch';

/** Why a worktree must not go, and what to do about it. */
export interface Reason {
  readonly reason:
    | 'in_use'
    | 'bridge'
    | 'session'
    | 'handoff'
    | 'changes'
    | 'operation'
    | 'locked'
    | 'target'
    | 'conflicts'
    | 'identity'
    | 'repository'
    | 'included'
    | 'name'
    | 'too_large'
    | 'worktree_inside'
    | 'unused'
    | 'default_branch'
    | 'leftover'
    | 'not_mergeable'
    | 'unanswered';
  readonly words: string;
  readonly remedy: string;
}

/** New files of this size in all can be kept. */
const MOST_MIB = 512;
const MIB = 1024 * 1024;
const MOST_NAMED = 10;

export interface Facts {
  readonly worktree: Worktree & { readonly folder: string };
  readonly way: Way;
  readonly dirt: Dirt;
  /** The same of its submodules. */
  readonly inside_submodules: Dirt;
  /** The paths in the index, as `latin1`. */
  readonly tracked: readonly string[];
  /** Changed files that git takes for unchanged, as its user has set. */
  readonly hidden: readonly string[];
  readonly submodules: readonly string[];
  /** Ignored files; a repository in its folder ends with a slash. */
  readonly ignored: readonly string[];
  /** Top levels of other worktrees that are inside. */
  readonly inside: readonly string[];
  /** The main checkout; null in a container. */
  readonly main: { readonly root: string; readonly folder: string } | null;
}

/** @param what git does not say, as `which branch is the default one` */
export function unanswered(what: string, { refusal }: Refusal): Reason {
  const [reason, words] = ['unanswered', `git does not say ${what}`] as const;
  if (refusal === null) return { reason, words, remedy: 'try again' };
  return { reason, words: `${words}: ${refusal}`, remedy: 'put that right, and call this again' };
}

/** @returns those that count for every way, but for what `discard` lifts */
export function ownReasons(repository: Repository, facts: Facts): Reason[] {
  const { way } = facts;
  return [
    ...(way === 'discard' ? [] : changedReasons(repository, facts)),
    ...nameReasons(facts.worktree),
    ...operationReasons(facts),
    ...lockReasons(facts),
    ...repositoryReasons(facts),
    ...insideReasons(facts),
    ...(way === 'discard' ? [] : includedReasons(repository, facts)),
    ...sizeReasons(facts),
  ];
}

function changedReasons(repository: Repository, { dirt, inside_submodules, hidden, worktree }: Facts): Reason[] {
  const { tracked, untracked } = together(dirt, inside_submodules);
  if (tracked.length + untracked.length + hidden.length === 0) return [];
  const unfiltered = withoutFilters(repository, { root: worktree.path, folder: worktree.folder }, dirt.tracked);
  const words = [
    ...(tracked.length > 0
      ? [`${counted(tracked.length, 'changed file')} (${named(tracked)})${unfiltered.words}`]
      : []),
    ...(untracked.length > 0 ? [`${counted(untracked.length, 'new file')} (${named(untracked)})`] : []),
    ...(hidden.length > 0 ? [`${counted(hidden.length, 'changed file')} that git hides (${named(hidden)})`] : []),
  ].join(', ');
  const status = `\`git -C ${shellWord(worktree.path)} status\``;
  const remedy = `commit them there, or give them up with --discard: ${status}${unfiltered.remedy}`;
  return [{ reason: 'changes', words: `it has ${words}`, remedy }];
}

/** No filter is run for a question, and without it git takes an unchanged file for a changed one if its times are other ones. */
export function withoutFilters(repository: Repository, place: WorktreePlace, files: readonly string[]) {
  const paths = files.map((file) => Buffer.from(file).toString('latin1'));
  const filters = (repository.hasFilters ? conversionsOf(repository, place, paths) : null) ?? [];
  if (filters.length === 0) return { words: '', remedy: '' };
  const words = ` as seen without the filter ${named(filters)}`;
  return { words, remedy: ', which runs the filter: if it shows no change, try again' };
}

function nameReasons({ branch, path }: Worktree): Reason[] {
  if (branch === null || isBranchName(branch)) return [];
  const words = `git's commands do not take the name of its branch ${JSON.stringify(branch)}, so there would be no way back`;
  return [{ reason: 'name', words, remedy: `give it another one: \`git -C ${shellWord(path)} branch -m NEW\`` }];
}

function operationReasons({ worktree: { operation, path } }: Facts): Reason[] {
  if (operation === null) return [];
  const { kind } = operation;
  const stop = kind === 'bisect' ? 'bisect reset' : `${kind} --abort`;
  const remedy = `finish it, or \`git -C ${shellWord(path)} ${stop}\``;
  return [{ reason: 'operation', words: `a ${kind} is in progress`, remedy }];
}

function lockReasons({ worktree: { lock, path } }: Facts): Reason[] {
  if (lock === null || lock.by?.is_alive === false) return [];
  const unlock = `\`git worktree unlock ${shellWord(path)}\``;
  if (lock.by === null)
    return [
      { reason: 'locked', words: lock.reason === '' ? 'it is locked' : `it is locked: ${lock.reason}`, remedy: unlock },
    ];
  const { name, pid, is_alive } = lock.by;
  const state = is_alive === null ? 'which cannot be seen from here' : 'which is alive';
  const words = `it is locked by the session ${name} of Claude Code (pid ${pid}), ${state}`;
  return [{ reason: 'locked', words, remedy: `end that one first, or ${unlock}` }];
}

/** Their commits are nowhere else: those of a submodule are in git's folder for this worktree. */
function repositoryReasons({ worktree, dirt, tracked, submodules, ignored, inside }: Facts): Reason[] {
  const { path, folder } = worktree;
  const initialised = initialisedAmong(path, submodules);
  const modules = join(folder, 'modules');
  const isKept = existsSync(modules) && readdirSync(modules).length > 0;
  const others = [...dirt.untracked, ...ignored];
  const listed = others.filter((file) => file.endsWith('/') && !inside.includes(join(path, file.slice(0, -1))));
  const own = [...listed, ...repositoriesAmong(path, tracked, others)];
  return [
    ...(initialised.length > 0 || isKept
      ? [
          {
            reason: 'repository' as const,
            words: `it has ${initialised.length > 0 ? `the submodule ${named(initialised)}` : 'a submodule'}, whose commits are in ${modules}`,
            remedy: `push the submodule's commits, and keep its changes, new files and stashes elsewhere: \`git -C ${shellWord(path)} submodule foreach --recursive 'git status --short; git stash list'\` shows them, and \`git -C ${shellWord(path)} submodule deinit --force --all && rm -r ${shellWord(modules)}\` deletes them`,
          },
        ]
      : []),
    ...(own.length > 0
      ? [
          {
            reason: 'repository' as const,
            words: `another repository is inside: ${named(own)}`,
            remedy: 'move it elsewhere, or delete it',
          },
        ]
      : []),
  ];
}

function insideReasons({ inside }: Facts): Reason[] {
  return inside.map((path) => ({
    reason: 'worktree_inside',
    words: `another worktree is inside: ${path}`,
    remedy: `end that one first: \`watchkeeper worktree end ${shellWord(path)}\` …`,
  }));
}

function includedReasons(repository: Repository, { worktree, main, ignored }: Facts): Reason[] {
  const { path, folder } = worktree;
  const files = main === null ? [] : differingFiles(repository, main, { root: path, folder, ignored });
  if (files === null) return [unanswered('which of its files .worktreeinclude names', repository)];
  if (main === null || files.length === 0) return [];
  const [first = ''] = files;
  const copy = `cp ${shellWord(join(path, first))} ${shellWord(join(main.root, first))}`;
  return [
    {
      reason: 'included',
      words: `${named(files)}, which .worktreeinclude names and git ignores, is not as in ${main.root}`,
      remedy: `take over what you need (\`${copy}\`), or give it up with --discard`,
    },
  ];
}

function sizeReasons({ worktree: { path }, dirt }: Facts): Reason[] {
  const sizes = dirt.untracked.map((file) => sizeIn(path, file));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes <= MOST_MIB * MIB) return [];
  const [largest = ''] = dirt.untracked.toSorted((one, other) => sizeIn(path, other) - sizeIn(path, one));
  return [
    {
      reason: 'too_large',
      words: `its new files have ${Math.round(bytes / MIB)} MiB, more than the ${MOST_MIB} MiB that can be kept`,
      remedy: `move ${largest} elsewhere, or delete it`,
    },
  ];
}

function sizeIn(path: string, file: string): number {
  return entryAt(join(path, file))?.size ?? 0;
}

/** @returns the names of some files */
export function named(files: readonly string[]): string {
  const more = files.length > MOST_NAMED ? ` and ${files.length - MOST_NAMED} more` : '';
  return `${files.slice(0, MOST_NAMED).join(', ')}${more}`;
}
