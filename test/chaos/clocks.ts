/** The wall clock of the product's processes, which the harness sets; its own instants stay true. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { appendLine, HARNESS_FILES } from './records.js';

/** From `at` on it was ahead of the true one by that much. */
export interface ClockShift {
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly aheadMs: number;
}

/** What `movedClock.ts` reads. */
export function clockFile(folder: string): string {
  return join(folder, 'clock');
}

export function setClock(folder: string, aheadMs: number): void {
  const file = clockFile(folder);
  writeFileSync(`${file}.new`, String(aheadMs));
  renameSync(`${file}.new`, file);
  appendLine(join(folder, HARNESS_FILES.clocks), { at: Date.now(), aheadMs } satisfies ClockShift);
}

/** @returns what the product's clock showed at a true instant */
export function shownAt(at: number, clocks: readonly ClockShift[]): number {
  return at + (clocks.findLast((shift) => shift.at <= at)?.aheadMs ?? 0);
}

/** @returns every true instant at which the product's clock can have shown this one */
export function trueInstants(shown: number, clocks: readonly ClockShift[]): number[] {
  const spans = [{ at: Number.NEGATIVE_INFINITY, aheadMs: 0 }, ...clocks];
  return spans.flatMap(({ at, aheadMs }, index) => {
    const instant = shown - aheadMs;
    const until = spans[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    return instant >= at - SEEN_WITHIN_MS && instant <= until + SEEN_WITHIN_MS ? [instant] : [];
  });
}

/** @returns whether the clock was set between these true instants */
export function wasSet(from: number, to: number, clocks: readonly ClockShift[]): boolean {
  return clocks.some(({ at }) => at >= from - SEEN_WITHIN_MS && at <= to + SEEN_WITHIN_MS);
}

/** A process looks at the file every 20 ms, and a busy one takes longer to act. */
const SEEN_WITHIN_MS = 500;
