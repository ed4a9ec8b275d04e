/** The damage of a worklog. */
import type { LogCounts } from '../logs/reader.js';

export interface Damage {
  /** Lines that cannot be read. */
  readonly unreadable: number;
  /** Lines that a newer version has written. */
  readonly newer: number;
  /** All lines are gone. */
  readonly isEmptied: boolean;
  /** The first line is lost, and others are there. */
  readonly hasLostBeginning: boolean;
}

/** @param isBegun whether a line begins the session. A line of a newer version may be one */
export function damageOf(
  { lines, unreadable, newer }: Pick<LogCounts, 'lines' | 'unreadable' | 'newer'>,
  isBegun: boolean,
): Damage {
  return { unreadable, newer, isEmptied: lines === 0, hasLostBeginning: !isBegun && lines > 0 && newer === 0 };
}

/** @returns whether something of the record is lost. Lines of a newer version are not */
export function isDamaged({ unreadable, isEmptied, hasLostBeginning }: Damage): boolean {
  return unreadable > 0 || isEmptied || hasLostBeginning;
}
