/**
 * Removes a worktree whose contents are kept. A record in git's common folder says how far that has come, so that a run that was cut off
 * can be finished. Each step is harmless if it is the last:
 *
 * 1. The record is written.
 * 2. The folder gets another name next to its own, in one step. From then on nothing is added to it by its path.
 * 3. If it still has what was kept, the record says so, and the folder is deleted; otherwise it gets its name back.
 * 4. Git's own folder for the worktree goes.
 * 5. The branch goes, if it is where it was; the remote branch, if that was asked for.
 * 6. The record is put away. It stays as long as the ref that keeps the contents.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { describeError } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { replaceInFolderSync } from '../../src/files/durableFile.js';
import { MINUTE } from '../../src/time.js';
import { deedLine, type GitVariables, ordinaryLine, runGit } from '../git/gitLine.js';
import { registeredIn, textOf } from './place.js';

const FOLDER = 'watchkeeper/removing';
const REMOVED = 'watchkeeper/removed';
const SUFFIX = '.json';
const LIMIT_MS = MINUTE;
const LOCAL = 'refs/heads/';

const REMOVAL = z.object({
  v: z.literal(1),
  /** As people call the worktree: the branch, or its folder's name. */
  name: z.string(),
  path: z.string(),
  /** Its name while it is deleted. */
  doomed: z.string(),
  /** Git's folder for it. */
  folder: z.string(),
  branch: z.nullable(z.string()),
  /** The commit at which the branch goes; null if it stays. */
  tip: z.nullable(z.string()),
  /** The remote branch that goes, and its commit as it was seen; null if none does. */
  remote: z.nullable(z.object({ name: z.string(), branch: z.string(), commit: z.string() })),
  /** The ref that keeps the contents; null if other branches have all of them. */
  kept: z.nullable(z.string()),
  /** The commands that bring the worktree back. */
  way_back: z.array(z.string()),
  /** Whether the folder had what was kept and no more, after it got its other name. */
  is_confirmed: z.boolean(),
});
export type Removal = Readonly<z.output<typeof REMOVAL>>;

export interface Ended {
  /** Why it stays; null if it is gone. */
  readonly fault: string | null;
  /** Said next to the result, such as that the branch stays. */
  readonly asides: readonly string[];
}

/** @returns the removals that were cut off. One whose folder has not got another name yet has not begun: it is not among them */
export function cutOffRemovals(common: string): Removal[] {
  return recordsIn(join(common, FOLDER)).filter(({ is_confirmed, doomed }) => is_confirmed || existsSync(doomed));
}

/** @returns the worktrees that were removed and whose contents are kept */
export function removedWorktrees(common: string): Removal[] {
  return recordsIn(join(common, REMOVED));
}

/** @param ref that is gone */
export function forgetRemoved(common: string, ref: string): void {
  rmSync(removedRecord(common, ref), { force: true });
}

function recordsIn(folder: string): Removal[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(SUFFIX)) : [];
  return names.flatMap((name) => readRecord(join(folder, name)) ?? []);
}

/**
 * Gives the folder its name back, if the run was cut off before it saw that nothing was added in the meantime.
 * @returns whether it has
 */
export function takeBack(common: string, removal: Removal): boolean {
  const { path, doomed, is_confirmed } = removal;
  if (is_confirmed || existsSync(path)) return false;
  renameSync(doomed, path);
  rmSync(recordOf(common, removal), { force: true });
  return true;
}

function readRecord(path: string): Removal | null {
  try {
    const read = REMOVAL.safeParse(JSON.parse(textOf(path) ?? ''));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

/** @returns a name next to the folder that nothing has */
export function doomedName(path: string): string {
  const base = join(dirname(path), `.${basename(path)}.removing`);
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!existsSync(name)) return name;
  }
}

/**
 * @param removal not confirmed yet
 * @param isAsKept whether the folder, under the name that it has by then, holds what was kept and no more
 * @throws UnreachableError, and the file system's error, if the record cannot be written again
 */
export function removeWorktree(
  common: string,
  removal: Removal,
  isAsKept: (root: string) => boolean,
  variables: GitVariables,
): Ended {
  const { path, doomed } = removal;
  const record = recordOf(common, removal);
  const write = (is_confirmed: boolean) =>
    replaceInFolderSync(record, `${JSON.stringify({ ...removal, is_confirmed })}\n`);
  try {
    mkdirSync(dirname(record), { recursive: true });
    failpoint('worktree.record.before');
    write(false);
    failpoint('worktree.record.after');
  } catch (error) {
    return { fault: `${record} cannot be written: ${describeError(error)}`, asides: [] };
  }
  try {
    failpoint('worktree.move.before');
    renameSync(path, doomed);
    failpoint('worktree.move.after');
  } catch (error) {
    rmSync(record, { force: true });
    return { fault: `${path} cannot be renamed before it is deleted: ${describeError(error)}`, asides: [] };
  }
  if (isAsKept(doomed)) {
    failpoint('worktree.confirm.before');
    write(true);
    failpoint('worktree.confirm.after');
    return finishRemoval(common, removal, variables);
  }
  renameSync(doomed, path);
  rmSync(record, { force: true });
  return { fault: `${path} was changed in the meantime: try again`, asides: [] };
}

/** Does what is left to do of a removal whose folder has another name, or is gone. */
export function finishRemoval(common: string, removal: Removal, variables: GitVariables): Ended {
  const { path, doomed, folder } = removal;
  try {
    failpoint('worktree.folder.before');
    rmSync(doomed, { recursive: true, force: true });
    failpoint('worktree.folder.after');
  } catch (error) {
    const rest = `${path} is removed, but the rest in ${doomed} cannot be deleted: ${describeError(error)}`;
    return { fault: `${rest}. Delete it and call this command again`, asides: [] };
  }
  const unknown = existsSync(folder) && !existsSync(path) ? forget(common, removal, variables) : null;
  if (unknown !== null) return { fault: `git does not forget ${path}: ${unknown}`, asides: [] };
  const asides = [...removeBranch(common, removal, variables), ...removeRemote(common, removal, variables)];
  failpoint('worktree.done.before');
  putAway(common, removal);
  failpoint('worktree.done.after');
  return { fault: null, asides };
}

function putAway(common: string, removal: Removal): void {
  const record = recordOf(common, removal);
  if (removal.kept === null || !existsSync(record)) rmSync(record, { force: true });
  else {
    mkdirSync(join(common, REMOVED), { recursive: true });
    renameSync(record, removedRecord(common, removal.kept));
  }
}

function removedRecord(common: string, ref: string): string {
  return join(common, REMOVED, `${basename(ref)}${SUFFIX}`);
}

function recordOf(common: string, { folder }: Removal): string {
  return join(common, FOLDER, `${basename(folder)}${SUFFIX}`);
}

/** Twice, because of the lock of a process that is gone. Nothing is there any more that git could delete but its own folder. */
function forget(common: string, { path, folder }: Removal, variables: GitVariables): string | null {
  failpoint('worktree.forget.before');
  const words = ['worktree', 'remove', '--force', '--force', path];
  const { err } = runGit(deedLine(common, words, variables), { limitMs: LIMIT_MS });
  failpoint('worktree.forget.after');
  return existsSync(folder) ? err.trim() || 'it took too long' : null;
}

function removeBranch(common: string, { branch, tip }: Removal, variables: GitVariables): string[] {
  if (branch === null || tip === null) return [];
  const heads = [{ folder: common, root: common }, ...registeredIn(common)];
  const other = heads.find(({ folder }) => textOf(join(folder, 'HEAD')) === `ref: ${LOCAL}${branch}`);
  if (other !== undefined) return [`the branch ${branch} stays: it is checked out in ${other.root ?? other.folder}`];
  failpoint('worktree.branch.before');
  const words = ['update-ref', '-d', `${LOCAL}${branch}`, tip];
  const { code } = runGit(deedLine(common, words, variables), { limitMs: LIMIT_MS });
  failpoint('worktree.branch.after');
  const isThere = ['rev-parse', '--verify', '-q', `${LOCAL}${branch}`];
  if (code === 0 || runGit(deedLine(common, isThere, variables), { limitMs: LIMIT_MS }).code !== 0) return [];
  return [`the branch ${branch} stays: it is no longer where it was`];
}

function removeRemote(common: string, { remote }: Removal, variables: GitVariables): string[] {
  if (remote === null) return [];
  const { name, branch, commit } = remote;
  const lease = `--force-with-lease=${LOCAL}${branch}:${commit}`;
  failpoint('worktree.remote.before');
  const line = ordinaryLine(common, ['push', '--quiet', lease, name, `:${LOCAL}${branch}`], variables);
  const { code, err } = runGit(line, { limitMs: LIMIT_MS });
  failpoint('worktree.remote.after');
  const isGone = err.includes('remote ref does not exist');
  return code === 0 || isGone ? [] : [`the branch ${branch} of ${name} stays: ${err.trim() || 'it took too long'}`];
}
