/** Makes a journal's content survive a crash of its host. */
import { closeSync, constants, fsync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { errorCode } from '../errno.js';
import { failpoint } from '../failpoints.js';
import { journalPath } from './path.js';

const syncFile = promisify(fsync);
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Simultaneous callers share one commit of the file system. A journal that is not in this folder belongs to another host.
 * @returns when every line appended until now is on the disk
 * @throws the file system's error
 */
export async function makeJournalDurable(logsFolder: string, sessionId: string): Promise<void> {
  const file = openUnlessMissing(journalPath(logsFolder, sessionId));
  if (file === null) return;
  try {
    failpoint('journal.sync.before');
    await syncFile(file);
    failpoint('journal.sync.after');
  } finally {
    closeSync(file);
  }
}

function openUnlessMissing(path: string): number | null {
  try {
    return openSync(path, READ);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
