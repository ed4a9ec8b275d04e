/** How often a progress display calls Telegram, and what it learns from failures. */
import type { ChatError } from './chatError.js';

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

/** A lost answer may mean a message that nobody edits: one more is tried, not two. */
const MOST_LOST_SENDS = 2;

/** @param now epoch milliseconds */
export function learn(pace: Pace, failure: ChatError, now: number): void {
  switch (failure.kind) {
    case 'limited':
      pause(pace, failure, now);
      return;
    case 'unknown':
      if (pace.messageId === null) pace.lostSends += 1;
      else pace.mayComeLate = true;
      pace.isRefused = pace.lostSends >= MOST_LOST_SENDS;
      return;
    case 'not_reached':
      return;
    case 'refused':
      pace.isRefused = !/message is not modified/i.test(failure.description);
      return;
    case 'unauthorized':
      pace.isRefused = true;
      return;
    default:
      failure.kind satisfies never;
  }
}

/** @param now epoch milliseconds */
export function pause(pace: Pace, { retryAfterMs }: ChatError, now: number): void {
  const until = now + (retryAfterMs ?? 0);
  pace.nextEditAt = Math.max(pace.nextEditAt, until);
  pace.nextTypingAt = Math.max(pace.nextTypingAt, until);
}
