/**
 * The sessions that this process knows to wait, in their last known state. Saves a lookup before a run: its start finds out
 * whether the record is still the same.
 */
import type { AgentSession } from '../../src/jobs/model.js';
import { Newest } from '../../src/newest.js';

/** 8 MB of text at most. A session that is not remembered is only read again; if Redis forgets it as well, it is lost. */
const MOST_REMEMBERED = 1_000;
/** UTF-16 units, the length of Telegram's messages; a message from the command line may be longer. */
const LONGEST_REMEMBERED = 4_096;

/** By id, the oldest first. */
export class WaitingSessions extends Newest<string, AgentSession> {
  constructor() {
    super(MOST_REMEMBERED);
  }

  /** @param session pending */
  keep(session: AgentSession): void {
    if (session.request.message_text.length > LONGEST_REMEMBERED) this.delete(session.session_id);
    else this.set(session.session_id, session);
  }

  /** @returns the session, which is forgotten here; null if it was not remembered */
  take(sessionId: string): AgentSession | null {
    const session = this.get(sessionId) ?? null;
    this.delete(sessionId);
    return session;
  }
}
