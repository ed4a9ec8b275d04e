/**
 * Identifies the logs folder by an id in a file there. Processes that share the folder have the same id, wherever it is
 * mounted; journals of runs in another folder cannot be read from here.
 */
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../errno.js';
import { ulid } from '../ids.js';
import type { Clock } from '../time.js';
import { readPlainFileSync } from './plainFile.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from './privateFiles.js';

const ID_FILE = 'watchdog.id';
const LONGEST_ID_BYTES = 4 * 1024;

/** @returns the folder's id; created if there is none */
export async function ensureLogsFolderId(logsFolder: string, clock: Clock): Promise<string> {
  // A folder that cannot be written at this moment still has its id.
  const known = readLogsFolderId(logsFolder);
  if (known !== null) return known;
  await mkdir(logsFolder, { recursive: true, mode: PRIVATE_FOLDER });
  const own = ulid(clock);
  const file = join(logsFolder, ID_FILE);
  const beside = join(logsFolder, `.${ID_FILE}.${own}`);
  await writeFile(beside, `${own}\n`, { flush: true, flag: 'wx', mode: PRIVATE_FILE });
  try {
    // Whole or not at all: of two processes that start at once, the second reads what the first linked.
    await link(beside, file).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    const id = readLogsFolderId(logsFolder);
    if (id !== null) return id;
    // The file was left empty by a full disk; two processes that repair it at once agree on the last one's id.
    await rename(beside, file);
    return readLogsFolderId(logsFolder) ?? own;
  } finally {
    await rm(beside, { force: true });
  }
}

/** @returns the folder's id; null if no bridge and no watchdog has used it yet */
export function readLogsFolderId(logsFolder: string): string | null {
  try {
    return readPlainFileSync(join(logsFolder, ID_FILE), LONGEST_ID_BYTES).trim() || null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
