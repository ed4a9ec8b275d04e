/** How often a progress display calls Telegram, and what it learns from failures. */
import type { ChatError } from '../chatError.js';

export interface Pace {
  messageId: string | null;
  lostSends: number;
  /** An edit was abandoned that may still arrive. */
  mayComeLate: boolean;
  /** The chat said no: nothing more is tried. */
  isRefused: boolean;
  nextEditAt: number;
  nextTypingAt: number;
}

/** A lost answer may mean a message that is never edited again: one more is tried, not two. */
const MOST_LOST_SENDS = 2;

/** @param now on the monotonic clock, like every instant here */
export function learn(pace: Pace, failure: ChatError, now: number): void {
  const { kind, description } = failure;
  if (kind === 'limited') pause(pace, failure, now);
  if (kind === 'unknown' && pace.messageId !== null) pace.mayComeLate = true;
  if (kind === 'unknown' && pace.messageId === null) pace.lostSends += 1;
  const isRefused = kind === 'unauthorized' || (kind === 'refused' && !/message is not modified/i.test(description));
  if (isRefused || pace.lostSends >= MOST_LOST_SENDS) pace.isRefused = true;
}

/** @param now on the monotonic clock, like every instant here */
export function pause(pace: Pace, { retryAfterMs }: ChatError, now: number): void {
  const until = now + (retryAfterMs ?? 0);
  pace.nextEditAt = Math.max(pace.nextEditAt, until);
  pace.nextTypingAt = Math.max(pace.nextTypingAt, until);
}
