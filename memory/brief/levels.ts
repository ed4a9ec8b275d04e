/** Who needs a context, and how much of the record that is. */
import type { MemorySettings } from '../../src/config/memorySettings.js';

export type ContextLevel = keyof MemorySettings['context'];

/** Entries and calls, the last ones. */
export const MOST_ACTIONS: Readonly<Record<ContextLevel, number>> = {
  root: 5,
  compacted: 0,
  resumed: 0,
  delegated: 0,
  resumed_delegated: 0,
  revival: 10,
};

/** @returns whether the reader knows nothing of the work */
export function isWhole(level: ContextLevel): boolean {
  return level === 'root' || level === 'revival';
}

/** @returns whether the reader works on a part of it */
export function isDelegated(level: ContextLevel): boolean {
  return level === 'delegated' || level === 'resumed_delegated';
}
