/**
 * The logs folder: made at the first start, and identified by an id in a file there. Processes that share the folder have the
 * same id, wherever it is mounted; journals of runs in another folder cannot be read from here.
 */
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError, errorCode, nullIfAbsent, UsageError } from '../errors.js';
import { ulid } from '../ids.js';
import type { Clock } from '../time.js';
import { linkWords, readPlainFileSync } from './plainFile.js';
import { findLink, makeFolders, PRIVATE_FILE, PRIVATE_FOLDER, SHARED_BITS } from './privateFiles.js';

export const ID_FILE = 'watchdog.id';
const LONGEST_ID_BYTES = 4 * 1024;

/**
 * Makes the folder if it is missing.
 * @returns why a folder that has been in use is not writable now, which is no reason to leave messages unanswered; else null
 * @throws UsageError if it cannot be created or was never writable, or a link has replaced something that is written there
 */
export function prepareLogsFolder(path: string): string | null {
  const refused = makeFolder(path);
  const found = findLink(path);
  if (found !== null) throw new UsageError(`WATCHKEEPER_LOGS: ${linkWords(found)}`);
  return refused;
}

/** Step by step: Node's own recursion never ends if a file system refuses every new folder, as `/proc` does. */
function makeFolder(path: string): string | null {
  try {
    const missing: string[] = [];
    for (let at = path; !existsSync(at); at = dirname(at)) missing.push(at);
    for (const folder of missing.reverse()) makeOne(folder);
    if (!wasInUse(path)) makePrivate(path);
    accessSync(path, constants.W_OK | constants.X_OK);
    if (!statSync(path).isDirectory()) throw new Error('it is not a directory');
    return null;
  } catch (cause) {
    const why = describeError(cause);
    if (wasInUse(path)) return `WATCHKEEPER_LOGS: ${path} cannot be written: ${why}`;
    throw new UsageError(`WATCHKEEPER_LOGS: ${path} cannot be the folder of the logs: ${why}`, { cause });
  }
}

/** Another process may be faster. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder, PRIVATE_FOLDER);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Only before its first use: later, wider permissions may be the owner's intention, and `doctor` reports them. */
function makePrivate(folder: string): void {
  const { mode, uid } = statSync(folder);
  if (uid === process.getuid?.() && (mode & SHARED_BITS) !== 0) chmodSync(folder, PRIVATE_FOLDER);
}

function wasInUse(path: string): boolean {
  try {
    return readLogsFolderId(path) !== null;
  } catch {
    return false;
  }
}

export async function ensureLogsFolderId(logsFolder: string, clock: Clock): Promise<string> {
  // A folder that cannot be written at this moment still has its id.
  const known = readLogsFolderId(logsFolder);
  if (known !== null) return known;
  await makeFolders(logsFolder);
  const own = ulid(clock);
  const file = join(logsFolder, ID_FILE);
  const temporary = join(logsFolder, `.${ID_FILE}.${own}`);
  await writeFile(temporary, `${own}\n`, { flush: true, flag: 'wx', mode: PRIVATE_FILE });
  try {
    // Whole or not at all: if two processes start at once, the second reads the file that the first linked.
    await link(temporary, file).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    const id = readLogsFolderId(logsFolder);
    if (id !== null) return id;
    // The file was left empty by a full disk; two processes that repair it at once agree on the last one's id.
    await rename(temporary, file);
    return readLogsFolderId(logsFolder) ?? own;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Makes the folder again, as it was, if it was deleted. @param id that it had */
export async function restoreLogsFolderId(logsFolder: string, id: string): Promise<void> {
  await makeFolders(logsFolder);
  if (readLogsFolderId(logsFolder) !== null) return;
  await writeFile(join(logsFolder, ID_FILE), `${id}\n`, { flush: true, mode: PRIVATE_FILE });
}

/** @returns the folder's id; null if no bridge and no watchdog has used it yet */
export function readLogsFolderId(logsFolder: string): string | null {
  try {
    return readPlainFileSync(join(logsFolder, ID_FILE), LONGEST_ID_BYTES).trim() || null;
  } catch (error) {
    return nullIfAbsent(error);
  }
}
