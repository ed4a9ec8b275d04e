/**
 * Asks this host's disk about a message that the store calls unanswered. A Redis that loses its last moment (one with
 * `appendfsync everysec` whose host dies) can forget a final message that a person has already read. The disk does not: an
 * answer is the journal's last line, synced before it is sent (`bridge/chat/chatRouter.ts`), and every final message that was
 * sent is noted next to the logs (`bridge/chat/sendMemory.ts`).
 */
import { acceptedAt } from '../../src/jobs/acceptedAt.js';
import type { AgentSession, OutboxEntry } from '../../src/jobs/model.js';
import type { Records } from '../../src/jobs/records.js';
import type { KnownEnd } from '../../src/jobs/sessionEnds.js';
import { readLastLine } from '../../src/journal/lastLine.js';
import { isOfMessage } from '../../src/journal/owner.js';
import { journalPath } from '../../src/journal/path.js';
import { takeUnsent } from '../../src/journal/unsent.js';
import type { Logger } from '../../src/log/logger.js';
import { CANCELLED_TEXT, LOST_TEXT } from '../incident/texts/chatTexts.js';

/** For a journal that holds no answer, such as one of an older version or one on a full disk. */
const TEXT_IS_LOST =
  'I answered this message shortly before a restart, and no longer have the text. If you did not get it, please ask again.';

/** The record's text if the chat has the actual words. */
const TEXTS: Readonly<Record<OutboxEntry['kind'], string>> = {
  answer: TEXT_IS_LOST,
  failure: LOST_TEXT,
  cancelled: CANCELLED_TEXT,
};

export interface DiskContext {
  readonly records: Records;
  readonly logsFolder: string;
  /** This host's. */
  readonly bootId: string;
  readonly logger: Logger;
  /** @param acceptedAt of its message, epoch ms: it names the message @returns null if nothing complete is known to be there */
  endInChat(sessionId: string, acceptedAt: number): Promise<OutboxEntry['kind'] | null>;
}

/** Store the result at once: a second question would take the answer for one in doubt. @throws as {@link answerInJournal} */
export async function endOnDisk(context: DiskContext, session: AgentSession): Promise<KnownEnd | null> {
  const { records, logsFolder, bootId, logger, endInChat } = context;
  const { session_id } = session;
  const kind = await endInChat(session_id, await acceptedAt(records, session));
  // A run that was given up may answer later. Its chat has read that it failed, and a message ends once.
  const mayHaveAnswered = kind === null || kind === 'answer';
  const answer = mayHaveAnswered ? await answerInJournal(records, logsFolder, session) : null;
  if (answer !== null) {
    const mayBeInChat = !takeUnsent(logsFolder, session_id, bootId);
    const said = mayBeInChat
      ? 'that Redis does not have; it may be in the chat already'
      : 'that was not stored yet; it is stored and sent now';
    logger[mayBeInChat ? 'warn' : 'info']({ session_id }, `session ${session_id}: its journal has an answer ${said}`);
    return { kind: 'answer', text: answer, mayBeInChat };
  }
  if (kind === null) return null;
  logger.warn({ session_id, kind }, `session ${session_id}: its chat was notified of its end, but Redis has lost that`);
  // The delivery knows that it was sent, and only closes the progress message.
  return { kind, text: TEXTS[kind], mayBeInChat: false };
}

/**
 * @param session pending or active
 * @returns null if its last run left no answer in these journals
 * @throws ioredis' error; UnreachableError if the journal cannot be read: its answer may be there
 */
export async function answerInJournal(
  records: Records,
  logsFolder: string,
  session: AgentSession,
): Promise<string | null> {
  const path = journalPath(logsFolder, session.session_id);
  const line = readLastLine(path);
  if (line?.event !== 'session_end' || line.reason !== 'answered') return null;
  // A chat may restart its message numbers, as Telegram does for another bot: an old journal must not answer a new message.
  if (!isOfMessage(path, await acceptedAt(records, session))) return null;
  return typeof line.answer === 'string' ? line.answer : TEXT_IS_LOST;
}
