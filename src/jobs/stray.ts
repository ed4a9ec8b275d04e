/** A record that nothing would ever bring to an end, and the commit that does. */
import type { Check, Write } from '../redis/commit.js';

export interface Stray {
  /** Stable, without spaces: the reason in log and critical event. */
  readonly reason: string;
  /** The record's id, lane or session. */
  readonly id: string;
  /** The rest of a sentence that begins with the id. */
  readonly end: string;
  /** A message that will not end as it should have; a critical event reports it. */
  readonly lost?: { readonly sessionId: string; readonly projectKey: string | null };
  /** That it has not changed since it was found. */
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}
