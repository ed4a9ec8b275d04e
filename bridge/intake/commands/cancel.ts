/** `/cancel`: stops what runs, and takes back what waits. */
import { CANCELLED_TEXT } from '../../../monitoring/incident/texts/chatTexts.js';
import { counted } from '../../../src/counted.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Redact } from '../../../src/log/redact.js';
import { excerptOf } from '../../chat/excerpt.js';
import type { ChatFoundation } from '../../chat/foundation.js';
import type { CommandPlace } from './commandText.js';
import { NOTHING_HERE, sessionsOf } from './sessionsHere.js';

const MOST_NAMED = 5;

/** @param argument `all`, or empty @throws ioredis' error if Redis is unreachable */
export async function cancel(base: ChatFoundation, argument: string, place: CommandPlace): Promise<string> {
  if (argument !== '' && argument.toLowerCase() !== 'all') {
    return 'Reply to a message with /cancel to stop it, send /cancel alone to stop what is running here, or /cancel all to stop everything here.';
  }
  const { running, waiting, elsewhere } = await sessionsOf(base.store, place);
  if (argument !== '') {
    const said = await cancelEach(base, [...waiting, ...running], NOTHING_HERE, true);
    return elsewhere === 0 ? said : `${said} ${elsewhere} in other topics of this chat: send /cancel all there.`;
  }
  if (place.replyTo !== null) {
    const { records } = base.store;
    const id = await records.sessionOfMessage(place.project.key, place.chatId, place.replyTo, place.bot);
    const session = id === null ? null : await records.session(id);
    if (session === null) return 'I have no work for that message.';
    return cancelEach(base, [session], 'That work has already ended.');
  }
  const hint = waiting.length === 0 ? '' : ` ${waiting.length} waiting: /cancel all, or /cancel as a reply.`;
  return cancelEach(base, running, `Nothing is running here.${hint}`);
}

/** @param isQuiet the answer to the command is the only one, so it names the messages: they may be those of other people */
async function cancelEach(
  { store, redact }: ChatFoundation,
  sessions: readonly AgentSession[],
  nothing: string,
  isQuiet = false,
): Promise<string> {
  let stopping = 0;
  const cancelled: AgentSession[] = [];
  for (const session of sessions) {
    const after = await store.transitions.cancel(session.session_id, CANCELLED_TEXT, { isQuiet });
    if (after?.status === 'active') stopping += 1;
    if (after?.status === 'cancelled') cancelled.push(session);
  }
  const said: string[] = [];
  if (stopping === 1) said.push('Stopping the running work.');
  if (stopping > 1) said.push(`Stopping the ${stopping} runs here.`);
  if (cancelled.length > 0) {
    const which = isQuiet ? `: ${named(cancelled, redact)}` : '';
    said.push(`Cancelled ${counted(cancelled.length, 'waiting message')}${which}.`);
  }
  return said.join(' ') || nothing;
}

function named(sessions: readonly AgentSession[], redact: Redact): string {
  const shown = sessions.slice(0, MOST_NAMED).map((session) => excerptOf(session, redact));
  const left = sessions.length - shown.length;
  return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join(', ');
}
