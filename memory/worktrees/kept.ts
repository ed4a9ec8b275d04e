/** The refs that keep what was removed, and the way back from each. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { failpoint } from '../../src/failpoints.js';
import { shellWord } from '../../src/log/shellWords.js';
import { DAY, MINUTE, SECOND } from '../../src/time.js';
import { gitFoldersOf } from '../git/checkout.js';
import { deedLine, type GitVariables, runGit } from '../git/gitLine.js';
import { type Asking, type Repository, withRepository } from '../git/repository.js';
import { CONFLICTS_FILE } from './contents.js';
import type { RepositoryPlace } from './place.js';
import { forgetRemoved } from './records.js';

const PLACE = 'refs/watchkeeper/removed/';
const LOCAL = 'refs/heads/';
/** `feature-login-20260131T093000Z`, and a number if there is such a one already */
const NAME = /^(.+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:-\d+)?$/;
const LIMIT_MS = MINUTE;
/** A run that was cut off has made it just before. */
const SAME_MS = DAY;
const MOST_TRIES = 100;
const ASKING: Asking = { about: 'commits', preparingMs: 5 * SECOND, askingMs: 30 * SECOND };

export interface KeptRef {
  readonly ref: string;
  readonly commit: string;
  /** The worktree, as in `feature-login`. */
  readonly name: string;
  /** When it was made, UTC epoch milliseconds. */
  readonly at: number;
}

/** @returns the newest first; those that others have put there are left out */
export function keptRefs({ ask }: Pick<Repository, 'ask'>): KeptRef[] {
  const lines = ask(['for-each-ref', '--format=%(refname)%09%(objectname)', PLACE])?.split('\n') ?? [];
  const refs = lines.flatMap((line): KeptRef[] => {
    const [ref = '', commit = ''] = line.split('\t');
    const [, name, year, month, day, hour, minute, second] = NAME.exec(ref.slice(PLACE.length)) ?? [];
    if (name === undefined) return [];
    return [{ ref, commit, name, at: Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) }];
  });
  return refs.sort((one, other) => other.at - one.at);
}

/** @returns a branch or folder as a part of a ref's name: `feature/login` is `feature-login` */
function keptName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return plain === '' ? 'worktree' : plain;
}

/**
 * @param name of the worktree
 * @param now UTC epoch milliseconds
 * @returns the ref that keeps a commit, also one that a run before has made; or why git refuses it
 */
export function keep(
  repository: Repository,
  { name, commit }: Pick<KeptRef, 'name' | 'commit'>,
  now: number,
  variables: GitVariables,
): { readonly ref: string; readonly is_new: boolean } | { readonly fault: string } {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const base = `${PLACE}${keptName(name)}-${time}`;
  let fault = '';
  for (let count = 1; count <= MOST_TRIES; count += 1) {
    const known = keptRefs(repository);
    const same = known.find((one) => one.commit === commit && one.name === keptName(name) && now - one.at < SAME_MS);
    if (same !== undefined) return { ref: same.ref, is_new: false };
    const ref = count === 1 ? base : `${base}-${count}`;
    if (known.some((other) => other.ref === ref)) continue;
    failpoint('worktree.keep.before');
    const words = ['update-ref', ref, commit, '0'.repeat(commit.length)];
    const { code, err } = runGit(deedLine(repository.common, words, variables), { limitMs: LIMIT_MS });
    failpoint('worktree.keep.after');
    if (code === 0) return { ref, is_new: true };
    fault = err.trim();
    // Another process may have made it just before.
    if (keptRefs(repository).every((other) => other.ref !== ref)) break;
  }
  return { fault };
}

/** Removes a ref, such as that of a worktree that stays. @returns whether it is gone */
export function forgetKept(
  { common }: Pick<Repository, 'common'>,
  { ref, commit }: Pick<KeptRef, 'ref' | 'commit'>,
  variables: GitVariables,
): boolean {
  return runGit(deedLine(common, ['update-ref', '-d', ref, commit], variables), { limitMs: LIMIT_MS }).code === 0;
}

/**
 * Removes those that are older than so many days.
 * @param now UTC epoch milliseconds
 * @returns the names of the refs that went
 */
export function removeOld(repository: Repository, days: number, now: number, variables: GitVariables): string[] {
  forgetRemoved(repository.common, now - days * DAY);
  const old = keptRefs(repository).filter(({ at }) => now - at > days * DAY);
  return old.flatMap((kept) => (forgetKept(repository, kept, variables) ? [kept.ref] : []));
}

/** As {@link removeOld}, for a caller that asks nothing else. */
export function removeOldIn(
  { root }: Pick<RepositoryPlace, 'root'>,
  days: number,
  now: number,
  variables: GitVariables,
): string[] {
  const { common } = gitFoldersOf(root);
  if (!mayHaveKept(common)) {
    forgetRemoved(common, now - days * DAY);
    return [];
  }
  return withRepository(root, variables, ASKING, (repository) => removeOld(repository, days, now, variables)) ?? [];
}

/** Mostly nothing was removed, and the files of git say so. */
function mayHaveKept(common: string): boolean {
  if ([PLACE, 'reftable'].some((name) => existsSync(join(common, name)))) return true;
  const packed = join(common, 'packed-refs');
  return existsSync(packed) && readFileSync(packed, 'latin1').includes(PLACE);
}

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
}

/**
 * An option stands between a name and a commit: after a name such as `login` the commit would be taken for a secret, and not be printed.
 * @param home a directory of the repository that stays
 * @returns the commands that bring it back, one after the other, for a shell
 */
export function wayBack(removed: Removed, home: string): string[] {
  const { path, branch, kept: ref, head, has_files, has_conflicts, has_forgotten, filters } = removed;
  const [git, there] = [`git -C ${shellWord(home)}`, `git -C ${shellWord(path)}`];
  const number = head === null ? 1 : 2;
  const tip = head === null ? null : has_files && ref !== null ? `${ref}^1` : (ref ?? head);
  const unfiltered = filters === null ? '' : filters.map(withoutFilter).join('');
  const add = [
    ...(branch !== null && removed.tip !== null && tip !== null
      ? [`${git} branch ${shellWord(branch)} --no-track ${tip}`]
      : []),
    branch !== null && head !== null
      ? `${git} worktree add ${shellWord(path)} ${shellWord(branch)}`
      : `${git}${head === null ? unfiltered : ''} worktree add ${shellWord(path)} --detach ${tip ?? ref}`,
    ...(branch !== null && head === null ? [`${there} symbolic-ref HEAD ${shellWord(LOCAL + branch)}`] : []),
  ];
  if (!has_files || ref === null) return add;
  const conflicts = `${there} cat-file blob ${ref}^${number + 1}:${CONFLICTS_FILE}`;
  return [
    ...add,
    `${there}${unfiltered} read-tree --reset -u ${ref}`,
    ...(filters === null ? [] : [asTheyWere(path, ref, head)]),
    `${there} read-tree ${ref}^${number}`,
    ...(has_conflicts ? [`${conflicts} | ${there} update-index -z --index-info`] : []),
    ...(has_forgotten ? [`${git} log ${ref}^${number + 1}`] : []),
  ];
}

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
