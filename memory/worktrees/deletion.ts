/** Deletes a folder, and says which file prevents it. `rmSync` names another one, and another fault, for a file that must not be changed. */
import { lstatSync, readdirSync, realpathSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { describeError, errorCode } from '../../src/errors.js';
import { mountPoints } from '../../src/host/mounts.js';

const SLASH = Buffer.from('/');
/** Errors that say that nothing has that path. */
const ABSENT: readonly string[] = ['ENOENT', 'ENOTDIR'];
const MOUNTED = 'another folder or file system is mounted there';

/**
 * Deletes a folder with all that is in it. Nothing is deleted behind a link, or in what is mounted inside.
 * @returns which file cannot be deleted, and why; null if nothing is left
 */
export function deleteFolder(folder: string): string | null {
  try {
    // The folder itself may be a link, which only goes.
    const path = join(realpathSync(dirname(folder)), basename(folder));
    return deleteAt(Buffer.from(path), null, mountPoints());
  } catch (error) {
    return ABSENT.includes(errorCode(error)) ? null : fault(Buffer.from(folder), wordsOf(error));
  }
}

/**
 * @param path a name of a file may be no text
 * @param device the number of the file system that the folder is on; null for the folder itself
 * @param mounts as `latin1`. A folder of the same file system may be mounted elsewhere in it (`mount --bind`); its number is the same
 */
function deleteAt(path: Buffer, device: number | null, mounts: ReadonlySet<string>): string | null {
  try {
    const stat = lstatSync(path);
    if (!stat.isDirectory()) {
      unlinkSync(path);
      return null;
    }
    const isOther = device !== null && (stat.dev !== device || mounts.has(path.toString('latin1')));
    if (isOther) return fault(path, MOUNTED);
    for (const name of readdirSync(path, { encoding: 'buffer' })) {
      const left = deleteAt(Buffer.concat([path, SLASH, name]), stat.dev, mounts);
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
