/** The chat's answer when a person rewords a message that has started work: the work continues with the first wording. */
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Records } from '../../../src/jobs/records.js';
import type { ChatMessage } from '../../intake/admission.js';
import { LEAST_PIECE } from './pastes.js';

/** Also called when only a link preview appeared. @returns null if it started no work, or has the same words */
export async function answerToEdit(records: Records, projectKey: string, message: ChatMessage): Promise<string | null> {
  const id = await records.sessionOfMessage(projectKey, message.chatId, message.messageId, message.bot);
  const session = id === null ? null : await records.session(id);
  if (session === null || holdsText(session, message)) return null;
  const end = endOf(session);
  return end === null
    ? 'I ignore edits and continue with the original text. To change your request, send it as a new message. To stop the old one, reply to it with /cancel.'
    : `I ignore edits, and that message ${end}. To ask for something else, send it as a new message.`;
}

/** @returns whether the session's request is the message, or a piece of it is, or it holds more words of others */
function holdsText({ request }: AgentSession, { messageId, text }: ChatMessage): boolean {
  if (request.message_text === text) return true;
  const isPiece = messageId !== request.message_id || text.length >= LEAST_PIECE;
  return isPiece ? request.message_text.includes(text) : request.message_text.startsWith(`${text}\n\n[`);
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
