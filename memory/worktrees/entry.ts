/** What is at a path, links not followed. */
import { lstatSync, type Stats } from 'node:fs';
import { errorCode } from '../../src/errors.js';

/** A file may be in the place of a folder above. */
const NOTHING = ['ENOENT', 'ENOTDIR'];

/** @param path may hold bytes that are no text @returns null if nothing is there @throws the file system's other errors */
export function entryAt(path: string | Buffer): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (NOTHING.includes(errorCode(error) ?? '')) return null;
    throw error;
  }
}
