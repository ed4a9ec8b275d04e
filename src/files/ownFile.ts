/**
 * Whether a file is this user's own. A file that another user owns, or may write, says what that user wants: it is not used, and
 * named. The rule is the one of OpenSSH for its own files (`StrictModes`): the owner is the user or root, and neither the group
 * nor others may write. A group's members cannot be known from here, so a group of the user alone makes no difference.
 *
 * A file is looked at after it was opened: a later file at its path does not matter.
 */
import { constants, fstatSync, lstatSync, type Stats } from 'node:fs';
import { UnreachableError } from '../errors.js';
import { linkWords, READ_NO_LINK, readPlainFileSync, withFileSync } from './plainFile.js';
import { seenEntry } from './seenFile.js';

const ROOT = 0;
const WRITABLE_BY_OTHERS = 0o022;
const PERMISSIONS = 0o7777;

/** Another user owns a file or folder, or may write it. */
export class NotOwnError extends UnreachableError {}

/**
 * A file has other names, which may be files of another kind.
 * @public although knip overlooks its importer, which asks with `instanceof` only
 */
export class LinkedError extends UnreachableError {}

export interface OwnershipFault {
  /** A clause without its subject. */
  readonly found: string;
  /** A clause: what to do. */
  readonly remedy: string;
}

/** @param stat not of a link, whose mode means nothing @returns why it is not the user's own; null if it is */
export function ownershipFault(
  path: string,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  user = process.geteuid?.(),
): OwnershipFault | null {
  if (user === undefined) return null;
  if (uid !== user && uid !== ROOT)
    return { found: `belongs to another user (uid ${uid}, you are ${user})`, remedy: 'remove it, or make it yours' };
  const isLink = (mode & constants.S_IFMT) === constants.S_IFLNK;
  if (isLink || (mode & WRITABLE_BY_OTHERS) === 0) return null;
  const found = `can be written by other users (mode 0${(mode & PERMISSIONS).toString(8)})`;
  return { found, remedy: `look at what is in it, then run: chmod go-w '${path}'` };
}

export function requireOwn(path: string, stat: Stats): void {
  const fault = ownershipFault(path, stat);
  if (fault !== null) throw new NotOwnError(`${path} ${fault.found}, so it is not used; ${fault.remedy}`);
}

/** @returns false if there is nothing @throws UnreachableError if it is no folder, such as a link; NotOwnError */
export function requireOwnFolder(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  if (!stat.isDirectory()) throw new UnreachableError(linkWords(path));
  requireOwn(path, stat);
  return true;
}

/** For a file that is opened elsewhere, in a folder of this user's own. @throws NotOwnError if something is there, and is not */
export function requireOwnEntry(path: string): void {
  const stat = seenEntry(path);
  if (stat !== undefined) requireOwn(path, stat);
}

/** @throws LinkedError if a write to an open file would go to a file elsewhere, too */
export function requireOneName(path: string, { nlink }: Stats): void {
  if (nlink <= 1) return;
  throw new LinkedError(
    `${path} has ${nlink} names (hard links), so nothing is written to it; make it a file of its own: cp -p '${path}' '${path}.own' && mv '${path}.own' '${path}'`,
  );
}

/** Opens it for as long as `work` takes; follows no link. @throws NotOwnError, the file system's error, what `work` throws */
export function withOwnFileSync<T>(path: string, work: (descriptor: number, stat: Stats) => T): T {
  return withFileSync(path, READ_NO_LINK, (descriptor) => {
    const stat = fstatSync(descriptor);
    requireOwn(path, stat);
    return work(descriptor, stat);
  });
}

/** The {@link readPlainFileSync} of a file of the product's own. @throws NotOwnError, too */
export function readOwnFileSync(path: string, longestBytes: number): string {
  return readPlainFileSync(path, longestBytes, { flags: READ_NO_LINK, check: (stat) => requireOwn(path, stat) });
}
