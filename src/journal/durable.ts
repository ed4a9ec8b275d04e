/** Makes a journal's content survive a crash of its host. */
import { fsync } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { nullIfAbsent } from '../errors.js';
import { failpoint } from '../failpoints.js';
import { READ_NO_LINK } from '../files/plainFile.js';
import { journalPath } from './path.js';

const syncFile = promisify(fsync);

/** Callers at once share one commit. A journal that is not here belongs to another host. @throws the file system's error */
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
