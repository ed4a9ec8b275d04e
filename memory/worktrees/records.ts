/** The records of removals, in git's common folder: how far one has come, and the way back to a worktree that is gone. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import * as z from 'zod/mini';
import { replaceInFolderSync } from '../../src/files/durableFile.js';
import { isProcessAlive, isSameProcess, isVisible, type ProcessIdentity } from '../../src/host/identity.js';
import { shellWord } from '../../src/log/shellWords.js';
import { isCommit } from '../git/checkout.js';
import { entryAt } from './entry.js';
import { OWN_FILES } from './own.js';
import { textOf } from './place.js';

const REMOVING = 'watchkeeper/removing';
const REMOVED = 'watchkeeper/removed';
const SUFFIX = '.json';
const KEPT = /^refs\/watchkeeper\/removed\/[\w-]+$/;
/** As git allows them, but for those that begin as an option. A byte that is no text is read as another character. */
const BRANCH = /^(?!-)[^\0-\x20\x7f~^:?*[\\\ufffd]+$/;
/** One with `=` would set another key. */
const FILTER = /^[\w-]+(?:\.[\w-]+)*$/;

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
  /** The ref that keeps the contents; null if other branches have all of them. */
  kept: z.nullable(z.string()),
  /** When it was asked for, UTC epoch milliseconds. */
  at: z.number(),
  /** As in {@link Removed}. */
  head: z.nullable(z.string()),
  has_files: z.boolean(),
  has_conflicts: z.boolean(),
  has_forgotten: z.boolean(),
  filters: z._default(z.nullable(z.readonly(z.array(z.string()))), null),
  own_files: z._default(z.readonly(z.array(z.enum(OWN_FILES))), []),
  is_sparse: z._default(z.boolean(), false),
  is_detached: z._default(z.boolean(), false),
  /** The command that was typed; it finishes the removal. */
  way: z._default(z.enum(['merge', 'discard', 'keep_branch']), 'merge'),
  is_remote_removed: z._default(z.boolean(), false),
  /** Whether the folder had what was kept and no more, after it got its other name. */
  is_confirmed: z.boolean(),
  /** The process that removes it; missing if it was not noted. */
  by: z.optional(
    z.object({
      host: z.string(),
      boot_id: z.string(),
      pid_namespace: z.string(),
      pid: z.number(),
      pid_start: z.string(),
    }),
  ),
});
export type Removal = Readonly<z.output<typeof REMOVAL>>;

/** @returns the names that folders have while they are deleted */
export function doomedFolders(common: string): string[] {
  return recordsIn(common, REMOVING).map(({ doomed }) => doomed);
}

/** @returns the command that was typed, which finishes it */
export function finishing({ name, way, is_remote_removed }: Removal): string {
  const word = shellWord(name);
  const option = { merge: '--merge', discard: `--discard ${word}`, keep_branch: '--keep-branch' }[way];
  return `watchkeeper worktree end ${word} ${option}${is_remote_removed ? ' --remote' : ''}`;
}

/**
 * @param here the identity of a process of this host
 * @returns the removals that were cut off. One whose folder has not got another name yet has not begun: it is not among them
 */
export function cutOffRemovals(common: string, here: ProcessIdentity): Removal[] {
  return recordsIn(common, REMOVING).filter((removal) => hasBegun(removal) && !isRunning(removal, here));
}

/** @returns the removals that another process is doing */
export function runningRemovals(common: string, here: ProcessIdentity): Removal[] {
  return recordsIn(common, REMOVING).filter((removal) => hasBegun(removal) && isRunning(removal, here));
}

function hasBegun({ is_confirmed, doomed }: Removal): boolean {
  return is_confirmed || existsSync(doomed);
}

function isRunning({ by }: Removal, here: ProcessIdentity): boolean {
  if (by === undefined || isSameProcess(by, here)) return false;
  // One of another host or container that is gone would hold the record for ever. Of one here, no answer proves no end.
  return isProcessAlive(by, here) ?? isVisible(by, here);
}

/** @returns the worktrees that were removed, the last one first, as long as they can be brought back */
export function removedWorktrees(common: string): Removal[] {
  return recordsIn(common, REMOVED).sort((one, other) => other.at - one.at);
}

/** Forgets the worktrees that were removed before an instant. @param before UTC epoch milliseconds */
export function forgetRemoved(common: string, before: number): void {
  const old = removedWorktrees(common).filter(({ at }) => at < before);
  for (const removal of old) rmSync(removedRecord(common, removal), { force: true });
}

function recordsIn(common: string, place: string): Removal[] {
  const folder = join(common, place);
  const names = isOwnFolder(common, place) ? readdirSync(folder).filter((name) => name.endsWith(SUFFIX)) : [];
  const records = names.flatMap((name) => readRecord(join(folder, name)) ?? []);
  return records.filter((removal) => isSound(common, removal));
}

/** Whether it is there, and no link. */
function isOwnFolder(common: string, place: string): boolean {
  const folders = [dirname(place), place].map((folder) => join(common, folder));
  return folders.every((folder) => entryAt(folder)?.isDirectory() === true);
}

/**
 * An agent can write in the folder of its repository. A record that is not as this program writes it must delete no other folder, and
 * print no other command.
 */
function isSound(common: string, { path, doomed, folder, branch, tip, head, kept, filters }: Removal): boolean {
  const names = [tip, head].filter((commit) => commit !== null);
  return (
    isAbsolute(path) &&
    doomed.startsWith(doomedBase(path)) &&
    /^(?:-\d+)?$/.test(doomed.slice(doomedBase(path).length)) &&
    folder === join(common, 'worktrees', basename(folder)) &&
    names.every(isCommit) &&
    (kept === null || KEPT.test(kept)) &&
    (filters ?? []).every(isFilterName) &&
    (branch === null || isBranchName(branch))
  );
}

/** @returns whether a branch can be named on git's command line, and in a record */
export function isBranchName(branch: string): boolean {
  return BRANCH.test(branch);
}

export function isFilterName(filter: string): boolean {
  return FILTER.test(filter);
}

function readRecord(path: string): Removal | null {
  try {
    const read = REMOVAL.safeParse(JSON.parse(textOf(path) ?? ''));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

function doomedBase(path: string): string {
  return join(dirname(path), `.${basename(path)}.removing`);
}

/** @returns a name next to the folder that nothing has, and that no other process takes: only one of them can move the folder */
export function doomedName(path: string, pid: number): string {
  const base = `${doomedBase(path)}-${pid}`;
  for (let count = 0; ; count += 1) {
    const name = count === 0 ? base : `${base}${count}`;
    if (!existsSync(name)) return name;
  }
}

/**
 * Writes the record of a removal, in the place of those of attempts that never began.
 * @throws the file system's error, and an Error if a link is in the place of the folder
 */
export function writeRecord(common: string, removal: Removal): void {
  mkdirSync(join(common, REMOVING), { recursive: true });
  if (!isOwnFolder(common, REMOVING)) throw new Error('a link is in the place of its folder');
  for (const other of recordsIn(common, REMOVING)) {
    const isOfSame = other.folder === removal.folder && other.doomed !== removal.doomed;
    if (isOfSame && removal.by !== undefined && !hasBegun(other) && !isRunning(other, removal.by))
      dropRecord(common, other);
  }
  replaceInFolderSync(recordOf(common, removal), `${JSON.stringify(removal)}\n`);
}

export function dropRecord(common: string, removal: Removal): void {
  rmSync(recordOf(common, removal), { force: true });
}

/** The record of a removal that is done is the way back. */
export function putAway(common: string, removal: Removal): void {
  const record = recordOf(common, removal);
  if (!existsSync(record)) return;
  mkdirSync(join(common, REMOVED), { recursive: true });
  renameSync(record, removedRecord(common, removal));
}

function removedRecord(common: string, { folder, at }: Removal): string {
  return join(common, REMOVED, `${basename(folder)}-${at}${SUFFIX}`);
}

/** Each process that tries has its own. */
function recordOf(common: string, { folder, doomed }: Removal): string {
  const number = /-\d+$/.exec(doomed)?.[0] ?? '';
  return join(common, REMOVING, `${basename(folder)}${number}${SUFFIX}`);
}
