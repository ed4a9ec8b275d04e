/** The file of a log: opens it, appends bytes, and explains why it cannot be used. */
import { closeSync, constants, fstatSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, UnreachableError } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { LinkedError, requireOneName, requireOwn, requireOwnFolder } from '../../src/files/ownFile.js';
import { linkWords, NotPlainError } from '../../src/files/plainFile.js';
import { PRIVATE_FILE } from '../../src/files/privateFiles.js';
import { describeStorageFault, MAKE_ROOM } from '../../src/files/storageFault.js';

/** Append-only; a writer never creates the log except when it begins it, or an archived session would get a second, empty one. */
const WRITE = constants.O_APPEND | constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const BEGIN = WRITE | constants.O_CREAT | constants.O_EXCL;
/** It is read in one go, and a bridge has other work: that must take no more than a second. */
export const LARGEST_LOG_BYTES = 256 * 1024 * 1024;
/** Error codes of opening a file for writing if its user may only read it. */
const UNWRITABLE = ['EROFS', 'EACCES', 'EPERM'];
/** Error codes of opening a link, a folder or a pipe. */
const NOT_PLAIN = ['ELOOP', 'EISDIR', 'ENXIO'];

export interface LogFile {
  /** Negative once it is closed: another file may have its number then. */
  descriptor: number;
  /** Which file it is, also if another one gets its place. */
  readonly file: string;
  /** In bytes, when it was opened. */
  readonly size: number;
  /** Bytes that were appended here. */
  appended: number;
  /** Why a file that should be written is open for reading only. Null if it can be written, or need not be. */
  readonly unwritable: UnreachableError | null;
}

/** `write or read`: for reading if its user may only read it. */
export type OpenedTo = 'begin' | 'write' | 'read' | 'write or read';

/**
 * @returns null if it is there already, when it is begun; else, if there is none
 * @throws UnreachableError if it cannot be opened, is no plain file, or others own or may write it or its folder; to write, also if it
 *   has another name (a hard link)
 */
export function openLogFile(path: string, to: OpenedTo): LogFile | null {
  switch (to) {
    case 'begin':
      return opened(path, BEGIN, 'EEXIST');
    case 'write':
      return opened(path, WRITE, 'ENOENT');
    case 'read':
      return opened(path, READ, 'ENOENT');
    case 'write or read':
      try {
        return opened(path, WRITE, 'ENOENT');
      } catch (error) {
        if (!isUnwritable(error)) throw error;
        const file = opened(path, READ, 'ENOENT');
        return file === null ? null : { ...file, unwritable: error };
      }
  }
}

function isUnwritable(error: unknown): error is UnreachableError {
  if (!(error instanceof UnreachableError)) return false;
  return error instanceof LinkedError || UNWRITABLE.includes(errorCode(error.cause));
}

/** @param otherwise the error code for which there is no file to open: the result is null then */
function opened(path: string, flags: number, otherwise: string): LogFile | null {
  let descriptor: number;
  try {
    if (flags === BEGIN) requireOwnFolder(dirname(path));
    descriptor = openSync(path, flags, PRIVATE_FILE);
  } catch (error) {
    if (errorCode(error) === otherwise) return null;
    throw unusable(path, error);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new NotPlainError(linkWords(path));
    requireOwn(path, stat);
    // The folder of a log that is begun was looked at before: only its owner can have changed it.
    if (flags !== BEGIN) requireOwnFolder(dirname(path));
    if (flags !== READ) requireOneName(path, stat);
    return { descriptor, file: `${stat.ino} ${stat.birthtimeMs}`, size: stat.size, appended: 0, unwritable: null };
  } catch (error) {
    closeSync(descriptor);
    throw unusable(path, error);
  }
}

let appends = 0;

/**
 * Appends with one write.
 * @param isDurable whether it waits until a power failure cannot take the bytes
 * @throws UnreachableError if the bytes are not, or not wholly, in the file
 */
export function appendTo(path: string, file: LogFile, bytes: Buffer, isDurable: boolean): void {
  const { descriptor, unwritable } = file;
  if (unwritable !== null) throw unwritable;
  try {
    failpoint('log.append.before');
    appends += 1;
    const written = writeSync(descriptor, bytes);
    file.appended += written;
    if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written; ${MAKE_ROOM}`);
    if (isDurable) fsyncSync(descriptor);
    failpoint('log.append.after');
  } catch (error) {
    throw unusable(path, error);
  }
}

/** @returns how often this process has appended to any log */
export function countAppends(): number {
  return appends;
}

/** Does nothing if it is closed already. */
export function closeLogFile(file: LogFile): void {
  const { descriptor } = file;
  file.descriptor = -1;
  if (descriptor >= 0) closeSync(descriptor);
}

/**
 * @returns bytes
 * @throws UnreachableError if it is too large to be read; the file system's error if it cannot be looked at
 */
export function sizeOfLog(path: string, descriptor: number): number {
  return requireReadable(path, fstatSync(descriptor).size);
}

/** @returns the size @throws UnreachableError if a log of so many bytes is too large to be read */
export function requireReadable(path: string, size: number): number {
  if (size <= LARGEST_LOG_BYTES) return size;
  throw new UnreachableError(
    `${path} is larger than ${LARGEST_LOG_BYTES} bytes, which no session writes, and is not read: move it away`,
  );
}

export function unusable(path: string, cause: unknown): UnreachableError {
  if (cause instanceof UnreachableError) return cause;
  if (cause instanceof NotPlainError || NOT_PLAIN.includes(errorCode(cause)))
    return new UnreachableError(linkWords(path), { cause });
  return new UnreachableError(`${path}: ${describeStorageFault(cause)}`, { cause });
}
