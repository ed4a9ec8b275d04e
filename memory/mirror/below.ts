/**
 * Paths that must not lead out of a folder. An agent can write the project, and Watchkeeper may run outside its sandbox: a link there
 * must not make it read or write another file of the user.
 */
import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { errorCode } from '../../src/errors.js';
import { realPathOf } from '../../src/files/seenFile.js';
import { oneLine } from '../../src/log/visibleText.js';
import { RefusedError } from '../logs/kind.js';

/**
 * @param folder without links
 * @param given a path relative to it; what it names need not exist
 * @returns the path without links
 * @throws RefusedError with the code `outside` if the path is empty, absolute, contains `..`, leads out through a link, or through a file that is no folder
 */
export function pathBelow(folder: string, given: string): string {
  const parts = partsOf(given);
  return parts.reduce((path, part) => followed(folder, join(path, part), given), folder);
}

/**
 * Makes a folder, with those above it.
 * @returns the folders that were missing, without links
 * @throws as {@link pathBelow}; the file system's error
 */
export function makeBelow(folder: string, given: string): string[] {
  const made: string[] = [];
  partsOf(given).reduce((path, part) => {
    const next = followed(folder, join(path, part), given);
    try {
      mkdirSync(next);
      made.push(next);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    return next;
  }, folder);
  return made;
}

/** @returns the names in a path. @throws as {@link pathBelow} */
export function partsOf(given: string): string[] {
  const parts = given.split('/').filter((part) => part !== '' && part !== '.');
  if (oneLine(given) !== given) throw outside(given, 'it must be one line');
  if (isAbsolute(given)) throw outside(given, 'it must be relative');
  if (parts.includes('..')) throw outside(given, 'it must not contain ".."');
  if (parts.length === 0) throw outside(given, 'it must name something');
  return parts;
}

function followed(folder: string, path: string, given: string): string {
  const stat = entryAt(path, given);
  if (stat?.isSymbolicLink() !== true) return path;
  // One that leads nowhere is refused, too: what is made there later could be anywhere.
  const real = realPathOf(path);
  if (real?.startsWith(`${folder}${sep}`)) return real;
  throw outside(given, `${path} is a link that leads out of ${folder}`);
}

function entryAt(path: string, given: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') throw outside(given, `${dirname(path)} is not a folder`);
    throw error;
  }
}

function outside(given: string, why: string): RefusedError {
  return new RefusedError({ code: 'outside', message: `${JSON.stringify(given)} cannot be used: ${why}` });
}
