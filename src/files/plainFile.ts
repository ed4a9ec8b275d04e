/** Opens files that may have been replaced: a pipe would block the reader for ever, and a device never ends. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { describeError, errorCode } from '../errors.js';

/** For files of the product's own, which are no links; a pipe in their place is not waited for. */
export const READ_NO_LINK = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Something other than a plain file is in the file's place. */
export class NotPlainError extends Error {}

export function linkWords(path: string): string {
  return `${path} is a link, or not the kind of file that belongs there, and links are not followed: remove it`;
}

/** Follows links without `O_NOFOLLOW`. @throws NotPlainError for anything but a plain file; the file system's error */
export async function openPlainFile(path: string, flags = constants.O_RDONLY, mode?: number): Promise<FileHandle> {
  // Without it, opening a pipe waits until its other end is opened.
  const file = await open(path, flags | constants.O_NONBLOCK, mode).catch((error: unknown) => {
    // A directory cannot be opened for writing, and the error for that is less clear.
    if (errorCode(error) === 'EISDIR') throw new NotPlainError('it is a directory, not a plain file');
    if (errorCode(error) === 'ELOOP') throw new NotPlainError('it is a link, and links are not followed here');
    if (errorCode(error) === 'ENXIO') throw new NotPlainError('it is a socket or a device, not a plain file');
    throw error;
  });
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new NotPlainError(`it is ${kindOf(stat)}, not a plain file`);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** @throws NotPlainError as {@link openPlainFile}, and for a file that is too large; the file system's error */
export async function readPlainFile(path: string, longestBytes: number): Promise<string> {
  const file = await openPlainFile(path);
  try {
    const { size } = await file.stat();
    if (size > longestBytes) throw new NotPlainError(`it is larger than ${longestBytes} bytes`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Opens a file for as long as `work` takes. @throws what `work` throws, and the file system's error */
export function withFileSync<T>(path: string, flags: number, work: (descriptor: number) => T, mode?: number): T {
  const descriptor = openSync(path, flags, mode);
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export interface ReadLook {
  /** Flags of `open`; without them, links are followed, and a pipe is not waited for. */
  readonly flags?: number;
  /** `utf8` if missing; `latin1` keeps every byte apart. */
  readonly encoding?: 'utf8' | 'latin1';
  check?(stat: Stats): void;
}

/** The synchronous {@link readPlainFile}. @throws what `check` throws, too */
export function readPlainFileSync(
  path: string,
  longestBytes: number,
  { flags = constants.O_RDONLY | constants.O_NONBLOCK, encoding = 'utf8', check }: ReadLook = {},
): string {
  return withFileSync(path, flags, (descriptor) => {
    const stat = fstatSync(descriptor);
    check?.(stat);
    if (!stat.isFile()) throw new NotPlainError(`it is ${kindOf(stat)}, not a plain file`);
    if (stat.size > longestBytes) throw new NotPlainError(`it is larger than ${longestBytes} bytes`);
    return readFileSync(descriptor, encoding);
  });
}

/** @returns why a file cannot be read, in a clause: `ENOENT`, `it is a pipe, not a plain file` */
export function describeFileTrouble(error: unknown): string {
  return error instanceof NotPlainError ? error.message : errorCode(error) || describeError(error);
}

function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'a directory';
  if (stat.isFIFO()) return 'a pipe';
  if (stat.isSocket()) return 'a socket';
  return 'a device';
}
