/**
 * That nobody can have been told an answer that stands in a journal: a file beside it. It is made while the store is away,
 * and removed before the store is told of the answer, from which on any process of any host may send it. So whoever finds it
 * knows what no memory of sends can tell: that nothing was sent. Without it the answer may be in the chat.
 *
 * Its removal is not synced: that costs more than the rest of an answer's end. A host that dies may bring the file back, so
 * it names the boot that it was made in, and says nothing in another one.
 *
 * Limit: on a disk that becomes read-only, or fails, between the answer's line and the next moment the file stays, and says
 * what is not true any more.
 */
import { closeSync, constants, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PRIVATE_FILE } from '../files/privateFiles.js';
import { journalPath } from './path.js';

const UNSENT_NAME = 'unsent';
const MAKE = constants.O_CREAT | constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Behind the answer's line, and before anybody was told of it. Never throws: without the file the answer is in doubt.
 * @param bootId of this host; empty where it has none, and then nothing is marked
 */
export function markUnsent(logsFolder: string, sessionId: string, bootId: string): void {
  if (bootId === '') return;
  try {
    const file = openSync(unsentPath(logsFolder, sessionId), MAKE, PRIVATE_FILE);
    try {
      writeSync(file, bootId);
    } finally {
      closeSync(file);
    }
  } catch {
    // The answer is in doubt.
  }
}

/** Before the answer is told to the store. Never throws. */
export function dropUnsent(logsFolder: string, sessionId: string): void {
  try {
    unlinkSync(unsentPath(logsFolder, sessionId));
  } catch {
    // Nothing was marked.
  }
}

/**
 * As {@link dropUnsent}.
 * @param bootId of this host
 * @returns whether nobody can have sent the answer until now
 */
export function takeUnsent(logsFolder: string, sessionId: string, bootId: string): boolean {
  try {
    const path = unsentPath(logsFolder, sessionId);
    const madeIn = readMark(path);
    unlinkSync(path);
    return bootId !== '' && madeIn === bootId;
  } catch {
    return false;
  }
}

function readMark(path: string): string {
  const file = openSync(path, READ);
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function unsentPath(logsFolder: string, sessionId: string): string {
  return join(dirname(journalPath(logsFolder, sessionId)), UNSENT_NAME);
}
