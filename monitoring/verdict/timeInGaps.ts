/** How much of a time was spent in gaps. Two watchdogs record the same sleep, so gaps may overlap. */
import type { Gap } from './detectors/detector.js';

/**
 * @param spans starts and ends in turn, ascending, epoch milliseconds
 * @returns how much of them lies in any gap, in milliseconds; overlaps count once
 */
export function timeInGaps(spans: readonly number[], gaps: readonly Gap[]): number {
  let ms = 0;
  let doneUntil = Number.NEGATIVE_INFINITY;
  for (const gap of gaps.toSorted((left, right) => left.from - right.from)) {
    const from = Math.max(gap.from, doneUntil);
    for (let index = 0; index + 1 < spans.length; index += 2) {
      const begin = Math.max(from, spans[index] ?? 0);
      ms += Math.max(0, Math.min(gap.until, spans[index + 1] ?? 0) - begin);
    }
    doneUntil = Math.max(doneUntil, gap.until);
  }
  return ms;
}
