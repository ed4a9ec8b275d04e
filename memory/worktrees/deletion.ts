/** Deletes a folder, and says which file prevents it. `rmSync` names another one, and another fault, for a file that must not be changed. */
import { lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { describeError, errorCode } from '../../src/errors.js';

const SLASH = Buffer.from('/');
/** Errors that say that nothing has that path. */
const ABSENT: readonly string[] = ['ENOENT', 'ENOTDIR'];
const OTHER_DISK = 'another file system is mounted there';

/**
 * Deletes a folder with all that is in it. Nothing is deleted behind a link, or on a file system that is mounted inside.
 * @returns which file cannot be deleted, and why; null if nothing is left
 */
export function deleteFolder(folder: string): string | null {
  return deleteAt(Buffer.from(folder), null);
}

/**
 * @param path a name of a file may be no text
 * @param device the number of the file system that the folder is on; null for the folder itself
 */
function deleteAt(path: Buffer, device: number | null): string | null {
  try {
    const stat = lstatSync(path);
    if (!stat.isDirectory()) {
      unlinkSync(path);
      return null;
    }
    if (device !== null && stat.dev !== device) return fault(path, OTHER_DISK);
    for (const name of readdirSync(path, { encoding: 'buffer' })) {
      const left = deleteAt(Buffer.concat([path, SLASH, name]), stat.dev);
      if (left !== null) return left;
    }
    rmdirSync(path);
    return null;
  } catch (error) {
    // Another process may have deleted it in the meantime.
    return ABSENT.includes(errorCode(error)) ? null : fault(path, wordsOf(error));
  }
}

function wordsOf(error: unknown): string {
  const number = error instanceof Error && 'errno' in error ? Number(error.errno) : 0;
  return getSystemErrorMap().get(number)?.[1] ?? describeError(error);
}

function fault(path: Buffer, why: string): string {
  return `${path} cannot be deleted: ${why}`;
}
