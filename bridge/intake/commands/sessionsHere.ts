/** The unfinished work of the place where a command was typed. */
import { CorruptRecordError } from '../../../src/errors.js';
import type { Store } from '../../../src/jobs/store.js';
import type { CommandPlace } from './commandText.js';

const USED_BY_TOPIC = '; a message of another topic uses this directory';
const USED_BY_CHAT = "; another chat's message uses this directory";
export const NOTHING_HERE = 'Nothing is running or waiting here.';

/**
 * The unfinished sessions of a topic, or of a chat outside its topics, in the order of their arrival; `elsewhere` counts those
 * in the other topics. A person who writes in one topic need not be able to read the others: `hidden` only says of each lane
 * that a message of theirs, or of another chat, uses it.
 */
export async function sessionsOf({ records }: Store, { project, chatId, threadId }: CommandPlace) {
  const ids = [...(await records.activeRevisions()).keys(), ...(await records.sessionIds('pending'))];
  const all = (await records.sessions(ids))
    .flatMap((session) => (session instanceof CorruptRecordError ? [] : [session]))
    .sort((one, other) => one.created_at - other.created_at);
  const ofChat = all.filter((session) => session.project_key === project.key && session.request.chat_id === chatId);
  const sessions = ofChat.filter((session) => session.request.thread_id === threadId);
  return {
    running: sessions.filter((session) => session.status === 'active'),
    waiting: sessions.filter((session) => session.status === 'pending'),
    elsewhere: ofChat.length - sessions.length,
    hidden: new Map(
      all
        .filter((session) => session.status === 'active' && !sessions.includes(session))
        .map(({ lane, request }) => [lane, request.chat_id === chatId ? USED_BY_TOPIC : USED_BY_CHAT]),
    ),
  };
}
