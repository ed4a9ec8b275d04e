/** What stands in a journal, made to survive the death of its host. */
import { constants, fsync } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { failpoint } from '../failpoints.js';
import { errorCode } from '../host/errno.js';
import { journalPath } from './path.js';

const syncFile = promisify(fsync);
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Those who ask at the same time share one commit of the file system. A journal that is not in this folder is another host's.
 * @returns when every line that was appended until now is on the disk
 * @throws the file system's error
 */
export async function makeJournalDurable(logsFolder: string, sessionId: string): Promise<void> {
  const file = await open(journalPath(logsFolder, sessionId), READ).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return;
  try {
    failpoint('journal.sync.before');
    await syncFile(file.fd);
    failpoint('journal.sync.after');
  } finally {
    await file.close();
  }
}
