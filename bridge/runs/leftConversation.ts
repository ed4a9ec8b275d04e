/** A conversation that is refused, too long, or gone. The second attempt begins a new one, with a record of its words. */
import { fenced, quoted } from '../../memory/brief/fence.js';
import { CorruptRecordError } from '../../src/errors.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import type { Redact } from '../../src/log/redact.js';
import { headOf } from '../../src/log/shorten.js';
import { isoTime } from '../../src/time.js';
import type { FailureCause } from '../agents/failures/causes.js';

/** How many ended messages, of all chats, are looked through. */
const MOST_LOOKED_AT = 500;
const MOST_EXCHANGES = 6;
/** Characters. */
const LONGEST_REQUEST = 500;
const LONGEST_ANSWER = 1_500;

/** Ends that say nothing about the conversation: the agent was killed, or never ran. */
const OF_OTHER_REASONS = /^run_(?:lost|interrupted|failed_signal|failed_to_start)/;

export interface FailedTurn {
  readonly cause: FailureCause;
  readonly reason: string;
  readonly attempt: 1 | 2;
  readonly hasContinued: boolean;
  readonly calls: number;
}

/** @returns whether the conversation is at fault, so that nothing may continue it */
export function isConversationOver({ cause, reason, attempt, hasContinued, calls }: FailedTurn): boolean {
  switch (cause) {
    case 'conversation_unusable':
      return true;
    case 'context_overflow':
      // A first message that is too long by itself is too long everywhere.
      return hasContinued || calls > 0;
    case 'crash':
      // The failure's words are unknown, but both attempts to continue it ended before the agent did anything.
      return attempt === 2 && hasContinued && calls === 0 && !OF_OTHER_REASONS.test(reason);
    default:
      return false;
  }
}

/** @returns what was last said in the conversation of a session, as data; empty if nothing is known of it */
export async function recordOfConversation(
  { records }: Pick<Store, 'records'>,
  { conversation_key }: AgentSession,
  redact: Redact,
): Promise<string> {
  const said: AgentSession[] = [];
  for (const session of await records.sessions(await records.sessionIds('ended', MOST_LOOKED_AT))) {
    if (session instanceof CorruptRecordError || session.conversation_key !== conversation_key) continue;
    if (session.answer !== null) said.push(session);
  }
  return fenced(
    said
      .slice(-MOST_EXCHANGES)
      .flatMap(({ created_at, request, answer }) => [
        `Asked on ${isoTime(created_at)}: ${quoted(headOf(request.message_text, LONGEST_REQUEST, redact))}`,
        `Answered: ${quoted(headOf(answer ?? '', LONGEST_ANSWER, redact))}`,
      ]),
  );
}
