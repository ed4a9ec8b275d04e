/**
 * That nobody can have been told an answer that stands in a journal: an empty file beside it. It is made before the answer's
 * line, and removed before the answer is told to the store, from which on any process of any host may send it. So whoever
 * finds it knows what no memory of sends can tell: that nothing was sent. Without it the answer may be in the chat.
 *
 * A full disk removes files all the same. Limit: on a disk that becomes read-only, or fails, between the answer's line and
 * the next moment the file stays, and says what is not true any more.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../durableFile.js';
import { PRIVATE_FILE } from '../privateFiles.js';
import { journalPath } from './path.js';

const UNSENT_NAME = 'unsent';
const MAKE = constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Before the answer's line, in a folder that is there. Never throws: without the file the answer is in doubt. */
export function markUnsent(logsFolder: string, sessionId: string): void {
  try {
    closeSync(openSync(unsentPath(logsFolder, sessionId), MAKE, PRIVATE_FILE));
  } catch {
    // The journal's line meets the same trouble, and tells it.
  }
}

/**
 * Before the answer is told to the store. Never throws.
 * @returns when the mark is gone, also from the disk: whether it was there
 */
export async function takeUnsent(logsFolder: string, sessionId: string): Promise<boolean> {
  const path = unsentPath(logsFolder, sessionId);
  try {
    await unlink(path);
    await syncFolder(dirname(path));
    return true;
  } catch {
    return false;
  }
}

function unsentPath(logsFolder: string, sessionId: string): string {
  return join(dirname(journalPath(logsFolder, sessionId)), UNSENT_NAME);
}
