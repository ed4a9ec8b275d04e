/** A run whose progress is shown. */
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Clock } from '../../../src/time.js';
import type { AcceptanceClocks } from '../../chat/acceptanceClocks.js';
import type { Activity } from '../../chat/progressView.js';
import type { Pace } from './progressPace.js';
import type { Reason } from './reason.js';

export interface Shown extends Pace {
  readonly session: AgentSession;
  /** By how much the wall clock was ahead of the boot's when the message was accepted, or else when the run began. */
  readonly clockAheadMs: number;
  readonly ended: AbortController;
  /** Aborted when {@link ProgressDisplay.end} stops waiting. */
  readonly abandoned: AbortController;
  loop: Promise<void>;
  activity: Activity | null;
  /** The session's record names the message. */
  isRecorded: boolean;
  /** The message's present text, as far as known. */
  text: string | null;
  /** Why this attempt is a second one; null for a first one, and while it is unknown. */
  reason: Reason | null;
  /** A text of this run was tried: what it shows first does not come after that. */
  hasBegun: boolean;
}

/**
 * @param known the message that shows the session's progress, if the record does not name it
 */
export function newlyShown(session: AgentSession, known: string | null, clock: Clock, clocks: AcceptanceClocks): Shown {
  const recorded = session.request.progress_message_id;
  const now = clock.monotonic();
  return {
    session,
    clockAheadMs: clocks.aheadAt(session) ?? clocks.aheadNow(),
    ended: new AbortController(),
    abandoned: new AbortController(),
    loop: Promise.resolve(),
    activity: null,
    messageId: recorded ?? known,
    isRecorded: recorded !== null,
    text: null,
    reason: null,
    hasBegun: false,
    lostSends: 0,
    mayComeLate: false,
    isRefused: false,
    nextEditAt: now,
    nextTypingAt: now,
  };
}
