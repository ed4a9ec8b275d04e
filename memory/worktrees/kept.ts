/** The refs that keep what was removed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { failpoint } from '../../src/failpoints.js';
import { DAY, MINUTE, SECOND } from '../../src/time.js';
import { gitFoldersOf } from '../git/checkout.js';
import { deedLine, type GitVariables, runGit } from '../git/gitLine.js';
import { withRefusal } from '../git/refusal.js';
import { type Asking, type Repository, withRepository } from '../git/repository.js';
import type { RepositoryPlace } from './place.js';
import { forgetRemoved } from './records.js';

const PLACE = 'refs/watchkeeper/removed/';
/**
 * `feature-login-20260131T093000Z`, and a number if there is such a one already. A dot and another number end the names of those next to
 * it, which keep what no commit can hold: tags, and other objects that refs of the worktree named.
 */
const NAME = /^((.+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:-\d+)?)(?:\.\d+)?$/;
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

/** @returns the newest first, without those that others have put there; null if git does not say */
export function keptRefs(repository: Pick<Repository, 'ask' | 'common'>): KeptRef[] | null {
  const whole = allKept(repository)?.filter(({ ref, main }) => ref === main);
  if (whole === undefined) return null;
  return whole.map(({ main: _, ...kept }) => kept).sort((one, other) => other.at - one.at);
}

/** As {@link keptRefs}. @returns also the refs next to one of those, which is called `main` */
function allKept({ ask, common }: Pick<Repository, 'ask' | 'common'>): (KeptRef & { readonly main: string })[] | null {
  if (!mayHaveKept(common)) return [];
  const lines = ask(['for-each-ref', '--format=%(refname)%09%(objectname)', PLACE])?.split('\n');
  if (lines === undefined) return null;
  return lines.flatMap((line) => {
    const [ref = '', commit = ''] = line.split('\t');
    const [, main, name, year, month, day, hour, minute, second] = NAME.exec(ref.slice(PLACE.length)) ?? [];
    if (main === undefined || name === undefined) return [];
    const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    return [{ ref, commit, name, at, main: PLACE + main }];
  });
}

/** @returns a branch or folder as a part of a ref's name: `feature/login` is `feature-login` */
function keptName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return plain === '' ? 'worktree' : plain;
}

/**
 * @param name of the worktree
 * @param others objects that are no commits, which refs next to it keep
 * @param now UTC epoch milliseconds
 * @returns the ref that keeps a commit, also one that a run before has made; or why git refuses it
 */
export function keep(
  repository: Repository,
  { name, commit, others }: Pick<KeptRef, 'name' | 'commit'> & { readonly others: readonly string[] },
  now: number,
  variables: GitVariables,
): { readonly ref: string; readonly is_new: boolean } | { readonly fault: string } {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const base = `${PLACE}${keptName(name)}-${time}`;
  let fault = '';
  for (let count = 1; count <= MOST_TRIES; count += 1) {
    const known = keptRefs(repository);
    if (known === null) return { fault: withRefusal('git does not say what is kept already', repository) };
    const same = known.find((one) => one.commit === commit && one.name === keptName(name) && now - one.at < SAME_MS);
    if (same !== undefined) return { ref: same.ref, is_new: false };
    const ref = count === 1 ? base : `${base}-${count}`;
    if (known.some((other) => other.ref === ref)) continue;
    failpoint('worktree.keep.before');
    const input = [commit, ...others]
      .map((object, at) => `create ${ref}${at === 0 ? '' : `.${at}`} ${object}\n`)
      .join('');
    const line = deedLine(repository.common, ['update-ref', '--stdin'], variables);
    const { code, err } = runGit(line, { limitMs: LIMIT_MS, input });
    failpoint('worktree.keep.after');
    if (code === 0) return { ref, is_new: true };
    fault = err.trim();
    // Another process may have made it just before.
    if (keptRefs(repository)?.some((other) => other.ref === ref) !== true) break;
  }
  return { fault };
}

/** Removes what one ref and those next to it keep, such as of a worktree that stays. @returns whether git says that it is gone */
export function forgetKept(
  repository: Pick<Repository, 'ask' | 'common'>,
  ref: string,
  variables: GitVariables,
): boolean {
  const parts = allKept(repository)?.filter(({ main }) => main === ref);
  if (parts === undefined) return false;
  const input = parts.map((part) => `delete ${part.ref} ${part.commit}\n`).join('');
  return (
    runGit(deedLine(repository.common, ['update-ref', '--stdin'], variables), { limitMs: LIMIT_MS, input }).code === 0
  );
}

/**
 * Removes those that are older than so many days.
 * @param now UTC epoch milliseconds
 * @returns the names of the refs that went
 */
export function removeOld(repository: Repository, days: number, now: number, variables: GitVariables): string[] {
  forgetRemoved(repository.common, now - days * DAY);
  const old = (allKept(repository) ?? []).filter(({ at }) => now - at > days * DAY);
  const names = [...new Set(old.map(({ main }) => main))];
  return names.filter((name) => forgetKept(repository, name, variables));
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
