/** The chat's answer when a person rewords a message: what it started continues with the first wording, and it starts nothing more. */
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Records } from '../../../src/jobs/records.js';
import { type IncomingText, requestOf } from './incoming.js';
import { LEAST_PIECE } from './pastes.js';

const NOTHING_STARTED = 'I ignore edits. Please send what you want as a new message.';

/** @param isForUs whether it would start something if it were new @returns null if the message started work with the same words: it is also called when only a link preview appeared */
export async function answerToEdit(
  records: Records,
  projectKey: string,
  edited: IncomingText,
  isForUs: boolean,
): Promise<string | null> {
  const { message } = edited;
  const id = await records.sessionOfMessage(projectKey, message.chatId, message.messageId, message.bot);
  const session = id === null ? null : await records.session(id);
  if (session === null) return isForUs ? NOTHING_STARTED : null;
  if (holdsText(session, edited)) return null;
  const end = endOf(session);
  return end === null
    ? 'I ignore edits and continue with the original text. To change your request, send it as a new message. To stop the old one, reply to it with /cancel.'
    : `I ignore edits, and that message ${end}. To ask for something else, send it as a new message.`;
}

/** @returns whether the session's request is the message, or a piece of it is, or it holds more words of others */
function holdsText({ request }: AgentSession, { message, said }: IncomingText): boolean {
  const { messageId, text } = message;
  if (request.message_text === text) return true;
  const isPiece = messageId !== request.message_id || text.length >= LEAST_PIECE;
  const holdsPiece = () =>
    request.message_text.includes(requestOf(said, [])) || bare(request.message_text).includes(bare(said.text));
  return isPiece ? holdsPiece() : request.message_text.startsWith(`${text}\n\n[`);
}

/** Marks where a paste was cut are not those of its pieces. */
function bare(text: string): string {
  return text.replace(/[\s`*_~|>]+/g, '');
}

/** @returns the state of a message, as the end of a clause; null while there is work for it */
function endOf({ status, stop }: AgentSession): string | null {
  switch (status) {
    case 'completed':
      return 'was already answered';
    case 'failed':
      return 'has already failed';
    case 'cancelled':
      return 'was cancelled';
    case 'pending':
    case 'active':
      return stop?.cause === 'cancel' ? 'is being cancelled' : null;
    default:
      return status satisfies never;
  }
}
