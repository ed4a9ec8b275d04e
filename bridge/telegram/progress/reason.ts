/** Why a message is worked on a second time: it stays on the progress message, whichever process has notified the chat first. */

import { progressText, reasonText } from '../../../monitoring/incident/texts/chatTexts.js';
import { leadingFinding } from '../../../monitoring/incident/texts/incidentEvents.js';
import { unreadable } from '../../../src/errors.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Records } from '../../../src/jobs/records.js';

export interface Reason {
  /** Markdown. */
  readonly text: string;
  /** With what is done about it: what the second attempt shows first. Markdown. */
  readonly announced: string;
}

/**
 * @returns null for a first attempt, and if it is unknown
 * @throws ioredis' error if Redis is unavailable
 */
export async function reasonOf(records: Records, session: AgentSession): Promise<Reason | null> {
  if (session.attempt === 1) return null;
  const claim = await records.claimOf(session);
  const incident = claim === null ? null : await records.incident(claim).catch(unreadable);
  if (incident === null || incident === 'unreadable' || leadingFinding(incident) === null) return null;
  return { text: reasonText(incident), announced: progressText(incident) };
}
