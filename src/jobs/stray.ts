/** What a record is that nobody would ever bring to an end, and what does. */
import type { Check, Write } from '../redis/commit.js';

export interface Stray {
  /** Stable, without spaces: the reason in log and critical event. */
  readonly reason: string;
  /** The record's id, lane or session. */
  readonly id: string;
  /** The rest of a sentence that begins with the id. */
  readonly end: string;
  /** The message that will not end as it should have: a critical event tells of it. */
  readonly lost?: { readonly sessionId: string; readonly projectKey: string | null };
  /** That it still is what it was found to be. */
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}
