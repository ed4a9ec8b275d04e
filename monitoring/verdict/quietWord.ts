/**
 * A quiet first word about a model that is silent for long, well before that is a finding: it is no accusation, and nothing follows
 * from it. Within a call, or while something is rightly awaited, there is none. (Judgement rules, 5.)
 */
import type { Thresholds } from '../../src/config/rules.js';
import type { Assessment } from './assessSessionHealth.js';

/**
 * @param now when it was assessed, UTC epoch milliseconds
 * @returns the instant since when the model has been silent; null if there is nothing to say
 */
export function quietSince(
  { clock, waits }: Pick<Assessment, 'clock' | 'waits'>,
  { quiet_ms: quietMs }: Pick<Thresholds, 'quiet_ms'>,
  now: number,
): number | null {
  const { silence_ms: silenceMs } = clock;
  if (silenceMs === null || silenceMs <= quietMs) return null;
  return waits.some(({ kind }) => kind === 'tool') ? null : now - silenceMs;
}
