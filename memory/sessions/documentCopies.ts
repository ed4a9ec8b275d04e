/** Copies of the documents that a session names, in its folder: the documents are the user's, and may change or vanish later. */
import { randomBytes } from 'node:crypto';
import { fstatSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorCode, nullIfAbsent } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { syncFolderSync } from '../../src/files/durableFile.js';
import { NotPlainError, READ_NO_LINK, withFileSync } from '../../src/files/plainFile.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../src/files/privateFiles.js';

/** In the session's folder. */
const COPIES = 'documents';
const LARGEST_BYTES = 64 * 1024 * 1024;
const MOST_NAMES = 1_000;
/** Ends the name of a copy that is being written. */
const PART = '.part';

/**
 * @param path absolute
 * @returns its content
 * @throws NotPlainError for a link, a folder, a pipe, and a file of more than 64 MiB; the file system's error
 */
export function readDocument(path: string): Buffer {
  return withFileSync(path, READ_NO_LINK, (descriptor) => {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new NotPlainError('it is not a file');
    if (stat.size > LARGEST_BYTES) throw new NotPlainError('it is larger than 64 MiB');
    return readFileSync(descriptor);
  });
}

/**
 * Copies a document into the folder of a session. Nothing is overwritten, and a copy that is there already is not made again.
 * @param id of the session, for the name of the copy if another file has the document's
 * @throws the file system's error; ENOENT if the folder is no longer there
 */
export function copyDocument(folder: string, id: string, name: string, content: Buffer): void {
  const copies = join(folder, COPIES);
  makeFolder(copies);
  const isMade = Array.from({ length: MOST_NAMES }, (_, number) => join(copies, nameOf(id, name, number))).some(
    (place) => isCopy(place, content) || put(place, content),
  );
  if (!isMade) throw new Error(`${copies} has ${MOST_NAMES} files of this name`);
  removeParts(copies);
}

/** @returns the documents without a copy. Those of the same name need one each */
export function uncopied(folder: string, documents: readonly string[]): string[] {
  const left = copyNames(folder);
  return documents.filter((path) => {
    const name = basename(path);
    const index = left.findIndex((copy) => copy === name || copy.endsWith(`--${name}`));
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

function copyNames(folder: string): string[] {
  try {
    return readdirSync(join(folder, COPIES)).filter((name) => !name.endsWith(PART));
  } catch (error) {
    nullIfAbsent(error);
    return [];
  }
}

function nameOf(id: string, name: string, number: number): string {
  if (number === 0) return name;
  return number === 1 ? `${id}--${name}` : `${id}-${number}--${name}`;
}

function isCopy(place: string, content: Buffer): boolean {
  try {
    return readDocument(place).equals(content);
  } catch {
    return false;
  }
}

/** A link to a finished file takes the name only if it is free. @returns false if it is taken */
function put(place: string, content: Buffer): boolean {
  const part = join(place, '..', `.${randomBytes(6).toString('hex')}${PART}`);
  try {
    writeFileSync(part, content, { flag: 'wx', mode: PRIVATE_FILE, flush: true });
    failpoint('archive.document.before');
    linkSync(part, place);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(part, { force: true });
  }
  syncFolderSync(join(place, '..'));
  failpoint('archive.document.after');
  return true;
}

/** Left by a process that was killed. Another one that is still writing notices that its file is gone, and begins again. */
function removeParts(copies: string): void {
  for (const name of readdirSync(copies)) if (name.endsWith(PART)) rmSync(join(copies, name), { force: true });
}

/** Not with its parents: the folder of the session may have moved to the archive. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, PRIVATE_FOLDER);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
