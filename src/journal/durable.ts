/** Makes a journal's content survive a crash of its host. */
import { fsync } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { nullIfAbsent } from '../errno.js';
import { failpoint } from '../failpoints.js';
import { READ_NO_LINK } from '../files/plainFile.js';
import { journalPath } from './path.js';

const syncFile = promisify(fsync);

/**
 * Simultaneous callers share one commit of the file system. A journal that is not in this folder belongs to another host.
 * @returns when every line appended until now is on the disk
 * @throws the file system's error
 */
export async function makeJournalDurable(logsFolder: string, sessionId: string): Promise<void> {
  const file = await open(journalPath(logsFolder, sessionId), READ_NO_LINK).catch(nullIfAbsent);
  if (file === null) return;
  try {
    failpoint('journal.sync.before');
    await syncFile(file.fd);
    failpoint('journal.sync.after');
  } finally {
    await file.close();
  }
}
