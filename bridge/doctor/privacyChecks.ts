/**
 * Checks whether other users of this host can read the product's files: earlier versions wrote files that everybody could read.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../src/errno.js';
import { SHARED_BITS } from '../../src/files/privateFiles.js';
import { type CheckResult, ok, skipped, warning } from './checkResult.js';

/** Per folder; a folder that holds many years must not delay the doctor. */
const MOST_LOOKED_AT = 1_000;
/** Shipped with the product. */
const NOT_OURS = new Set(['README.md']);

/** @returns whether the logs folder, and what is in it down to two levels, is private to this user */
export async function checkPrivacy(logsFolder: string): Promise<CheckResult> {
  const name = 'privacy of the logs';
  const found = await modeOf(logsFolder);
  if (found === null) return skipped(name, 'there is no logs folder yet');
  const wide = isWide(found.mode) ? [logsFolder] : [];
  const links: string[] = [];
  for (const folder of [logsFolder, ...(await foldersIn(logsFolder))]) {
    for (const entry of await namesIn(folder)) {
      const path = join(folder, entry);
      const seen = await modeOf(path);
      if (seen?.isLink) links.push(path);
      else if (seen !== null && isWide(seen.mode)) wide.push(path);
    }
  }
  if (wide.length + links.length === 0) return ok(name, `${logsFolder} is readable by this user only`);
  const words: string[] = [];
  const remedies: string[] = [];
  if (wide.length > 0) {
    const what = wide.length === 1 ? '1 file or folder' : `${wide.length} files and folders`;
    words.push(`others on this host may read ${what}, such as ${wide[0]}`);
    remedies.push(`\`chmod -R go= ${logsFolder}\``);
  }
  if (links.length > 0) {
    words.push(`links are not followed: ${links.slice(0, 3).join(', ')}`);
    remedies.push('remove the links, and find out who created them');
  }
  return warning(name, words.join('; '), remedies.join('; '));
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((entry) => !NOT_OURS.has(entry)).slice(0, MOST_LOOKED_AT);
}

/** A socket cannot be read; a file that is gone meanwhile does not matter. */
async function modeOf(path: string): Promise<{ mode: number; isLink: boolean } | null> {
  try {
    const found = await lstat(path);
    return found.isSocket() ? null : { mode: found.mode, isLink: found.isSymbolicLink() };
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'EACCES') return null;
    throw error;
  }
}

function isWide(mode: number): boolean {
  return (mode & SHARED_BITS) !== 0;
}
