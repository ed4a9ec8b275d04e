/** A run whose progress is shown. */
import { progressText, reasonText } from '../../../monitoring/incident/texts/chatTexts.js';
import { leadingFinding } from '../../../monitoring/incident/texts/incidentEvents.js';
import { unreadable } from '../../../src/errors.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Records } from '../../../src/jobs/records.js';
import { type Backoff, type Clock, MINUTE, pauseAfter, SECOND } from '../../../src/time.js';
import type { AcceptanceClocks } from '../../chat/acceptanceClocks.js';
import type { Activity } from '../../chat/progressView.js';
import type { ChatError } from '../chatError.js';

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
    refusals: 0,
    isOver: false,
    nextEditAt: now,
    nextTypingAt: now,
  };
}

/** Why a message is worked on a second time: it stays on the progress message, whichever process has notified the chat first. */
interface Reason {
  /** Markdown. */
  readonly text: string;
  /** With what is done about it: what the second attempt shows first. Markdown. */
  readonly announced: string;
}

/** @returns null for a first attempt, and if it is unknown @throws ioredis' error if Redis is unavailable */
export async function reasonOf(records: Records, session: AgentSession): Promise<Reason | null> {
  if (session.attempt === 1) return null;
  const claim = await records.claimOf(session);
  const incident = claim === null ? null : await records.incident(claim).catch(unreadable);
  if (incident === null || incident === 'unreadable' || leadingFinding(incident) === null) return null;
  return { text: reasonText(incident), announced: progressText(incident) };
}

/** How often a progress display calls Telegram, and what it learns from failures. */
interface Pace {
  messageId: string | null;
  lostSends: number;
  /** An edit was abandoned that may still arrive. */
  mayComeLate: boolean;
  /** In a row. */
  refusals: number;
  /** The message is gone, or may be there unseen: nothing more is tried. */
  isOver: boolean;
  nextEditAt: number;
  nextTypingAt: number;
}

/** A lost answer may mean a message that is never edited again: one more is tried, not two. */
const MOST_LOST_SENDS = 2;
/** People can undo a refusal, such as a lost right or the removal of the bot; each try costs a call all the same. */
const REFUSED: Backoff = { firstMs: 5 * SECOND, longestMs: 30 * MINUTE };
const TYPING_REFUSED_MS = MINUTE;
const GONE = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i;
const NOT_MODIFIED = /message is not modified/i;

/** @param now on the monotonic clock, like every instant here */
export function learn(pace: Pace, failure: ChatError, now: number): void {
  const { kind, description } = failure;
  holdBack(pace, failure, now);
  if (kind === 'unknown' && pace.messageId !== null) pace.mayComeLate = true;
  if (kind === 'unknown' && pace.messageId === null) pace.lostSends += 1;
  const isGone = kind === 'refused' && GONE.test(description);
  if (isGone || pace.lostSends >= MOST_LOST_SENDS) pace.isOver = true;
}

function holdBack(pace: Pace, { kind, description, retryAfterMs }: ChatError, now: number): void {
  const isRefused = kind === 'unauthorized' || (kind === 'refused' && !NOT_MODIFIED.test(description));
  if (!isRefused && kind !== 'limited') return;
  if (isRefused) pace.refusals += 1;
  const until = now + (isRefused ? pauseAfter(pace.refusals, REFUSED) : (retryAfterMs ?? 0));
  pace.nextEditAt = Math.max(pace.nextEditAt, until);
  pace.nextTypingAt = Math.max(pace.nextTypingAt, until);
}

/** Edits may be allowed all the same. @param now as for {@link learn} */
export function learnOfTyping(pace: Pace, failure: ChatError, now: number): void {
  if (failure.kind === 'limited') holdBack(pace, failure, now);
  else if (failure.kind !== 'unknown' && failure.kind !== 'not_reached') pace.nextTypingAt = now + TYPING_REFUSED_MS;
}
