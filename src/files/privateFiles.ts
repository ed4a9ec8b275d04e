/**
 * What the product writes is for its own user: journals, logs and events hold what people and agents said. Nor does it write
 * through links: whoever may put one into the logs folder could choose another file of this user to be written.
 */
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../errno.js';
import { LineAppender } from './lineAppender.js';
import { NotPlainError } from './plainFile.js';

export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
/** What group and others may do. */
export const SHARED_BITS = 0o077;

/** For files that only grow. */
const APPEND_FLAGS =
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
  'issue-marker-key',
  'retention.json',
  'stopping.json',
  'redis',
];

/**
 * @param folder below the logs folder; made, with what is missing above it, for this user alone
 * @returns the first folder that was made; undefined where all were there
 * @throws NotPlainError where a link or a file is in its place
 * @throws the file system's error
 */
export async function makePrivateFolder(folder: string): Promise<string | undefined> {
  const made = await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if (!(await lstat(folder)).isDirectory()) throw new NotPlainError(linkWords(folder));
  return made;
}

/** As {@link makePrivateFolder}, before it returns. */
export function makePrivateFolderSync(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if (!lstatSync(folder).isDirectory()) throw new NotPlainError(linkWords(folder));
}

/**
 * Opens a file of this user to append to it; one that is missing is made.
 * @returns its descriptor
 * @throws NotPlainError where a link or a pipe is in its place
 * @throws the file system's error
 */
export function openToAppendSync(path: string): number {
  try {
    const descriptor = openSync(path, APPEND_FLAGS, PRIVATE_FILE);
    const found = fstatSync(descriptor);
    if (found.isFile() || found.isCharacterDevice()) return descriptor;
    closeSync(descriptor);
  } catch (error) {
    throw errorCode(error) === 'ELOOP' || errorCode(error) === 'ENXIO' ? new NotPlainError(linkWords(path)) : error;
  }
  throw new NotPlainError(linkWords(path));
}

/**
 * Appends whole lines to a file as {@link openToAppendSync} opens it. A line that a full disk or a crash cut off before is
 * ended first.
 * @throws as {@link openToAppendSync}, and an Error where not all of it went in
 */
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

/** @returns in words, that a link is refused */
export function linkWords(path: string): string {
  return `${path} is a link, or not the kind of file that belongs there, and links are not followed: remove it`;
}

/**
 * At the start, so that an operator reads it at once and nothing is lost later.
 * @returns the first of the product's own files and folders in the logs folder whose place a link has taken; else null
 */
export function findLink(logsFolder: string): string | null {
  return (
    OWN_NAMES.map((name) => join(logsFolder, name)).find(
      (path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true,
    ) ?? null
  );
}
