/**
 * When a session's message was accepted. Together with the session's id, this instant names the message: notes on the disk that
 * carry it belong to that message, whatever the clock has said since. A chat may restart its message numbers, so an id alone is
 * not enough.
 */
import { unreadable } from '../errors.js';
import type { AgentSession } from './model.js';
import type { Records } from './records.js';

/**
 * A second attempt may have been granted a second time: only its message is as old as it says.
 * @returns epoch milliseconds
 * @throws ioredis' error if Redis is unreachable
 */
export async function acceptedAt(records: Pick<Records, 'session'>, session: AgentSession): Promise<number> {
  if (session.revival_of === null) return session.created_at;
  const first = await records.session(session.revival_of).catch(unreadable);
  return (first === null || first === 'unreadable' ? session : first).created_at;
}
