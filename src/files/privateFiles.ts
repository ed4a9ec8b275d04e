/**
 * The product's files are private to its user: journals, logs and events contain the words of people and agents. It does not
 * write through links either: a stranger who could put one into the logs folder could make it write to another file of this user.
 */
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../errors.js';
import { LineAppender } from './lineAppender.js';
import { requireOneName } from './ownFile.js';
import { linkWords, NotPlainError } from './plainFile.js';

export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
/** The permissions of group and others. */
export const SHARED_BITS = 0o077;

/** For files that only grow. A link is refused; a pipe without a reader does not block the process. */
export const APPEND_FLAGS =
  constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** In the logs folder. */
const OWN_NAMES = [
  'bridge.log',
  'watchdog.log',
  'critical_events.jsonl',
  'rejected_updates.jsonl',
  'watchdog.id',
  'sessions',
  'issues',
  'daydream',
  'archive',
  'consumers',
  'alive',
  'claims',
  'sends',
  'accepted',
  'issue-marker-key',
  'retention.json',
  'stopping.json',
  'redis',
];

/** @returns the first folder that was created, if any @throws NotPlainError for a link or a file; the file system's error */
export async function makePrivateFolder(folder: string): Promise<string | undefined> {
  const made = await makeFolders(folder);
  if (!(await lstat(folder)).isDirectory()) throw new NotPlainError(linkWords(folder));
  return made;
}

export function makePrivateFolderSync(folder: string): void {
  // Usually it exists, and an error costs ten times as much as a look.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  makeFoldersSync(folder);
  if (!lstatSync(folder).isDirectory()) throw new NotPlainError(linkWords(folder));
}

/** Node's own `recursive` never ends in `/proc`. @returns the first that was created, if any @throws the file system's error */
export async function makeFolders(folder: string): Promise<string | undefined> {
  const fault = await mkdir(folder, PRIVATE_FOLDER).then(() => null, errorIfMissing);
  if (fault === null) return folder;
  if (fault === 'exists') return undefined;
  if (dirname(folder) === folder) throw fault;
  const made = await makeFolders(dirname(folder));
  const again = await mkdir(folder, PRIVATE_FOLDER).then(() => null, errorIfMissing);
  if (again instanceof Error) throw again;
  return made ?? (again === null ? folder : undefined);
}

function makeFoldersSync(folder: string): void {
  const make = () => {
    try {
      mkdirSync(folder, PRIVATE_FOLDER);
      return null;
    } catch (error) {
      return errorIfMissing(error);
    }
  };
  const fault = make();
  if (!(fault instanceof Error)) return;
  if (dirname(folder) === folder) throw fault;
  makeFoldersSync(dirname(folder));
  const again = make();
  if (again instanceof Error) throw again;
}

/** @returns the error if the parent is missing. @throws any other error */
function errorIfMissing(error: unknown): Error | 'exists' {
  if (errorCode(error) === 'EEXIST') return 'exists';
  if (errorCode(error) === 'ENOENT' && error instanceof Error) return error;
  throw error;
}

/** For this user. @throws NotPlainError for a link or a pipe; LinkedError for other names; the file system's error */
export function openToAppendSync(path: string): number {
  try {
    const descriptor = openSync(path, APPEND_FLAGS, PRIVATE_FILE);
    if (isToAppend(path, descriptor)) return descriptor;
  } catch (error) {
    throw errorCode(error) === 'ELOOP' || errorCode(error) === 'ENXIO' ? new NotPlainError(linkWords(path)) : error;
  }
  throw new NotPlainError(linkWords(path));
}

/** Closes what is not. */
function isToAppend(path: string, descriptor: number): boolean {
  let isPlain = false;
  try {
    const found = fstatSync(descriptor);
    requireOneName(path, found);
    isPlain = found.isFile() || found.isCharacterDevice();
    return isPlain;
  } finally {
    if (!isPlain) closeSync(descriptor);
  }
}

/** Appends whole lines, after the end of one that was cut off. @throws as {@link openToAppendSync}; Error if not all was written */
export function appendPrivately(path: string, text: string): void {
  const descriptor = openToAppendSync(path);
  try {
    const lines = new LineAppender({ isShared: true });
    lines.use(path, descriptor);
    lines.append(text);
  } finally {
    closeSync(descriptor);
  }
}

/** @returns the first of the product's own files in the logs folder that was replaced by a link, for a check at the start */
export function findLink(logsFolder: string): string | null {
  return (
    OWN_NAMES.map((name) => join(logsFolder, name)).find(
      (path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true,
    ) ?? null
  );
}
