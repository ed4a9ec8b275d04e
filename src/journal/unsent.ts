/**
 * A file next to the journal that proves that its answer has not been sent. It is created with the answer's line, and removed
 * before the answer is stored, because from then on any process of any host may send it. It proves what no record of sends can.
 * Without the file, the answer may be in the chat.
 *
 * Its removal is not synced, because that costs more than the rest of an answer's end. A crash of the host may bring the file
 * back, so it names the boot of its creation, and means nothing in another one.
 *
 * Limit: if the disk fails or becomes read-only between the answer's line and the removal, the file stays although it is no
 * longer true.
 */
import { constants, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { READ_NO_LINK, withFileSync } from '../files/plainFile.js';
import { PRIVATE_FILE } from '../files/privateFiles.js';
import { journalPath } from './path.js';

const UNSENT_NAME = 'unsent';
const MAKE = constants.O_CREAT | constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Before the answer is stored. Never throws: without the file, or a boot's id, the answer is in doubt. */
export function markUnsent(logsFolder: string, sessionId: string, bootId: string): void {
  if (bootId === '') return;
  try {
    withFileSync(unsentPath(logsFolder, sessionId), MAKE, (file) => writeSync(file, bootId), PRIVATE_FILE);
  } catch {
    // The answer is in doubt.
  }
}

/** Removes the mark of a run of this process, before its answer is stored. Never throws. */
export function dropUnsent(logsFolder: string, sessionId: string): void {
  try {
    unlinkSync(unsentPath(logsFolder, sessionId));
  } catch {
    // Another process has taken it, or the answer is in doubt.
  }
}

/** Removes another process's mark. Never throws. @returns whether the answer has certainly not been sent */
export function takeUnsent(logsFolder: string, sessionId: string, bootId: string): boolean {
  try {
    const path = unsentPath(logsFolder, sessionId);
    const madeIn = withFileSync(path, READ_NO_LINK, (file) => readFileSync(file, 'utf8'));
    unlinkSync(path);
    return bootId !== '' && madeIn === bootId;
  } catch {
    return false;
  }
}

function unsentPath(logsFolder: string, sessionId: string): string {
  return join(dirname(journalPath(logsFolder, sessionId)), UNSENT_NAME);
}
