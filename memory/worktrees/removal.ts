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
import { existsSync, renameSync } from 'node:fs';
import { describeError } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { MINUTE } from '../../src/time.js';
import { deedLine, type GitVariables, ordinaryLine, runGit } from '../git/gitLine.js';
import { deleteFolder } from './deletion.js';
import { placeOnBranch, registeredIn } from './place.js';
import { dropRecord, putAway, type Removal, writeRecord } from './records.js';
import type { Table } from './table.js';

const LIMIT_MS = MINUTE;
const LOCAL = 'refs/heads/';
/** How `git rev-parse --verify` exits if there is no such name. */
const NO_SUCH = 1;

/** A branch of a remote, and its commit as it was seen here last. */
export interface RemoteBranch {
  readonly name: string;
  readonly branch: string;
  readonly commit: string;
}

interface Removing {
  /** @returns why the folder, under the name that it has by then, is not known to hold what was kept and no more; null if it is */
  whyNotAsKept(root: string): string | null;
  /** As the configuration names it; null if none is to go. */
  readonly remote: RemoteBranch | null;
  readonly repository: Table;
}

export interface Ended {
  /** Why it stays; null if it is gone. */
  readonly fault: string | null;
  /** Whether files may be gone. Otherwise it stays as it was. */
  readonly is_begun: boolean;
  readonly branch_removed: boolean;
  /** With the way back to what is gone by then: if the branch was to go and is still there, to the commit alone. */
  readonly removal: Removal;
  /** Said next to the result, such as that the branch stays. */
  readonly asides: readonly string[];
}

export function takenAway(path: string): string {
  return `${path} has been taken away in the meantime, perhaps by the same command`;
}

/**
 * Gives the folder its name back, if the run was cut off before it saw that nothing was added in the meantime.
 * @returns why it cannot have it; null if it has
 */
export function takeBack(common: string, removal: Removal): string | null {
  const { path, doomed } = removal;
  if (existsSync(path)) return `${path} is there again, and ${doomed} has its former files: move one of them elsewhere`;
  try {
    renameSync(doomed, path);
    dropRecord(common, removal);
    return null;
  } catch (error) {
    return `${doomed} cannot get the name ${path} back: ${describeError(error)}`;
  }
}

/**
 * @param removal not confirmed yet
 * @throws the file system's error, if the record cannot be confirmed, or the folder cannot get its name back. Nothing is deleted then, and
 *   the same command goes on from there
 */
export function removeWorktree(
  common: string,
  removal: Removal,
  { whyNotAsKept, ...removing }: Removing,
  variables: GitVariables,
): Ended {
  const { path, doomed } = removal;
  try {
    failpoint('worktree.record.before');
    writeRecord(common, removal);
    failpoint('worktree.record.after');
  } catch (error) {
    return staying(removal, `no record of the removal can be written in ${common}: ${describeError(error)}`);
  }
  try {
    failpoint('worktree.move.before');
    renameSync(path, doomed);
    failpoint('worktree.move.after');
  } catch (error) {
    dropRecord(common, removal);
    if (!existsSync(path)) return staying(removal, takenAway(path));
    return staying(removal, `${path} cannot be renamed before it is deleted: ${describeError(error)}`);
  }
  const why = whyNotAsKept(doomed);
  if (why === null) {
    const confirmed = { ...removal, is_confirmed: true };
    failpoint('worktree.confirm.before');
    writeRecord(common, confirmed);
    failpoint('worktree.confirm.after');
    return finishRemoval(common, confirmed, removing, variables);
  }
  renameSync(doomed, path);
  dropRecord(common, removal);
  return staying(removal, why);
}

function staying(removal: Removal, fault: string): Ended {
  return { fault, is_begun: false, branch_removed: false, removal, asides: [] };
}

/**
 * Does the steps that are left of a removal whose folder has another name, or is gone.
 * @param removal confirmed
 */
export function finishRemoval(
  common: string,
  removal: Removal,
  { remote, repository }: Omit<Removing, 'whyNotAsKept'>,
  variables: GitVariables,
): Ended {
  const { path, doomed, folder } = removal;
  failpoint('worktree.folder.before');
  const left = deleteFolder(doomed);
  failpoint('worktree.folder.after');
  if (left !== null) return { ...staying(removal, left), is_begun: true };
  const isLeft = existsSync(folder) && !existsSync(path) && !isOfAnother(common, removal);
  const unknown = isLeft ? forget(common, removal, variables) : null;
  if (unknown !== null) return { ...staying(removal, `git does not forget ${path}: ${unknown}`), is_begun: true };
  const stays = removeBranch(repository, removal, variables);
  const isStaying = stays !== null && stays.length > 0;
  // It may be checked out elsewhere, or at another commit.
  const gone = isStaying ? { ...removal, tip: null, is_detached: true } : removal;
  const asides = [...(stays ?? []), ...removeRemote(common, remote, variables), ...close(common, gone, isStaying)];
  return { fault: null, is_begun: true, branch_removed: stays !== null && !isStaying, removal: gone, asides };
}

/**
 * All else is done by then: a record that cannot be written must not keep the way back from being said.
 * @returns why the record is not put away, or nothing if it is
 */
function close(common: string, removal: Removal, isOther: boolean): string[] {
  try {
    failpoint('worktree.note.before');
    if (isOther) writeRecord(common, removal);
    failpoint('worktree.note.after');
    failpoint('worktree.done.before');
    putAway(common, removal);
    failpoint('worktree.done.after');
    return [];
  } catch (error) {
    return [`the record of the removal is not put away in ${common}: ${describeError(error)}`];
  }
}

/** After `git worktree prune`, git gives the same folder to a new worktree elsewhere. */
function isOfAnother(common: string, { path, folder }: Removal): boolean {
  const root = registeredIn(common).find((one) => one.folder === folder)?.root ?? null;
  return root !== null && root !== path && existsSync(root);
}

/** Twice, because of the lock of a process that is gone. Nothing is there any more that git could delete but its own folder. */
function forget(common: string, { path, folder }: Removal, variables: GitVariables): string | null {
  failpoint('worktree.forget.before');
  const words = ['worktree', 'remove', '--force', '--force', path];
  const { err } = runGit(deedLine(common, words, variables), { limitMs: LIMIT_MS });
  failpoint('worktree.forget.after');
  return existsSync(folder) ? err.trim() || 'it took too long' : null;
}

/** @returns why it stays, or nothing if it is gone; null if none was to go */
function removeBranch(repository: Table, { branch, tip }: Removal, variables: GitVariables): string[] | null {
  const { common } = repository;
  if (branch === null || tip === null) return null;
  const place = placeOnBranch(repository, branch);
  if (place === 'unanswered')
    return [`the branch ${branch} stays: git does not say whether it is checked out elsewhere`];
  if (place !== null) return [`the branch ${branch} stays: it is checked out in ${place}`];
  failpoint('worktree.branch.before');
  const words = ['update-ref', '--no-deref', '-d', `${LOCAL}${branch}`, tip];
  const { code, err } = runGit(deedLine(common, words, variables), { limitMs: LIMIT_MS });
  failpoint('worktree.branch.after');
  if (code === 0) return [];
  const asked = ['rev-parse', '--verify', '-q', `${LOCAL}${branch}`];
  const there = runGit(deedLine(common, asked, variables), { limitMs: LIMIT_MS });
  if (there.code === NO_SUCH) return [];
  const isMoved = there.code === 0 && there.out.trim() !== tip;
  const why = isMoved ? 'it is no longer where it was' : err.trim() || 'git did not remove it';
  return [`the branch ${branch} stays: ${why}`];
}

function removeRemote(common: string, remote: RemoteBranch | null, variables: GitVariables): string[] {
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
