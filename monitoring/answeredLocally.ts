/**
 * What the disk of this host knows of a message that the store calls unanswered. A Redis that loses its last moment, as one
 * with `appendfsync everysec` does when its host dies, forgets an answer that a person has read; the run's journal does
 * not, because its last line is on the disk before the answer is sent (`bridge/runs/runJournal.ts`).
 */
import { fsync } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { CorruptRecordError } from '../src/errors.js';
import { readLastLine } from '../src/journal/lastLine.js';
import { journalPath } from '../src/journal/path.js';
import type { AgentSession } from '../src/model.js';
import type { Records } from '../src/store/records.js';

const syncFile = promisify(fsync);

/** Of a journal that a former version wrote, which names no answer. */
const TEXT_IS_LOST =
  'I answered this message shortly before a restart, and no longer have the text. If you did not get it, please ask again.';

/**
 * @param logsFolder whose journals are asked; those of other hosts tell nothing
 * @param session pending or active
 * @returns the answer of the session's last run, as its journal has it; null where that tells of none
 * @throws ioredis' error where Redis is away
 */
export async function answerInJournal(
  records: Pick<Records, 'session'>,
  logsFolder: string,
  session: AgentSession,
): Promise<string | null> {
  const path = journalPath(logsFolder, session.session_id);
  const line = readLastLine(path);
  if (line?.event !== 'session_end' || line.reason !== 'answered') return null;
  const answeredAt = Date.parse(String(line.timestamp));
  // A chat may count its messages anew, as Telegram does for another bot: an old journal must not answer a new message.
  if (!(answeredAt >= (await acceptedAt(records, session)))) return null;
  await syncJournal(path);
  return typeof line.answer === 'string' ? line.answer : TEXT_IS_LOST;
}

/** Its bridge may have been killed between the line and its sync, and whoever asks sends the answer now. */
async function syncJournal(path: string): Promise<void> {
  const file = await open(path, 'r').catch(() => null);
  // A disk that refuses keeps no answer back.
  if (file !== null) await syncFile(file.fd).catch(() => undefined);
  await file?.close();
}

/** A revival may have been made a second time: only its message is as old as it says. */
async function acceptedAt(records: Pick<Records, 'session'>, session: AgentSession): Promise<number> {
  if (session.revival_of === null) return session.created_at;
  const first = await records.session(session.revival_of).catch((error: unknown) => {
    if (error instanceof CorruptRecordError) return null;
    throw error;
  });
  return (first ?? session).created_at;
}
