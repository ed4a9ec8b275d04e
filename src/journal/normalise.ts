/**
 * The one reading of a journal line that both shapes share.
 *
 * Version 1 lines carry `timestamp` and `event`. Older journals (the field's first `tool_use.jsonl`) carry `timestamp`, or
 * `start_time` and `end_time` in epoch seconds with a fraction, often hold results only and then name no event, have no
 * ids and no error flag.
 */
import { DAY, HOUR, MINUTE, SECOND } from '../time.js';
import type { JournalRecord } from './reader.js';

const DATE_AND_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?$/i;
const ZONE = /(Z|[+-]\d\d:?\d\d)$/i;
const CANONICAL = /^\d{4}-\d\d-\d\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z$/;
/** Larger numbers are milliseconds: as seconds they would lie beyond the year 5000. */
const LARGEST_SECONDS = 1e11;
/** The end of the year 9999: no clock shows more. */
const LAST_INSTANT_MS = 253_402_300_799_999;
/**
 * A line from outside was written by a clock that was never set (1970, 9999): agents that keep journals are younger, and
 * one such line would make a verdict speak of decades.
 */
const FIRST_INSTANT_MS = Date.UTC(2020, 0);
const END_OF_INSTANTS_MS = Date.UTC(2100, 0);
const LEAP_SECOND = /^(.{11}\d\d:\d\d:)60/;

/** @returns the line's event; a line without one that names a tool is a result of the older shape; null for neither */
export function eventOf(record: JournalRecord): string | null {
  if (typeof record.event === 'string') return record.event;
  return record.event === undefined && typeof record.tool_name === 'string' ? 'post_tool_use' : null;
}

/**
 * @param record a journal line
 * @param event as {@link eventOf} gives it
 * @returns the line's instant, UTC epoch milliseconds; null where it has none, or one that no journal can be from
 */
export function timeOf(record: JournalRecord, event: string): number | null {
  const own = event === 'post_tool_use' ? record.end_time : record.start_time;
  const other = event === 'post_tool_use' ? record.start_time : record.end_time;
  return possibleInstantOf(record.timestamp) ?? possibleInstantOf(own) ?? possibleInstantOf(other);
}

function possibleInstantOf(value: unknown): number | null {
  const instantMs = instantOf(value);
  return instantMs !== null && instantMs >= FIRST_INSTANT_MS && instantMs < END_OF_INSTANTS_MS ? instantMs : null;
}

/**
 * @param value ISO 8601 (UTC where it names no zone), epoch seconds or epoch milliseconds
 * @returns UTC epoch milliseconds, whole; null for anything else
 */
export function instantOf(value: unknown): number | null {
  if (typeof value === 'string') return parseIso(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  const instantMs = Math.round(Math.abs(value) < LARGEST_SECONDS ? value * 1_000 : value);
  return Math.abs(instantMs) <= LAST_INSTANT_MS ? instantMs : null;
}

function parseIso(text: string): number | null {
  if (CANONICAL.test(text)) return parseCanonical(text);
  if (!DATE_AND_TIME.test(text)) return null;
  const leapMs = LEAP_SECOND.test(text) ? SECOND : 0;
  const known = leapMs === 0 ? text : text.replace(LEAP_SECOND, '$159');
  const instantMs = Date.parse(ZONE.test(known) ? known : `${known.replace(' ', 'T')}Z`);
  return Number.isNaN(instantMs) ? null : instantMs + leapMs;
}

/** Lines of one journal mostly share their day: its start is worth remembering. */
let knownDay = '';
let knownDayMs = 0;

/** Five times as fast as `Date.parse`, which would take a third of the time that a line's JSON takes. */
function parseCanonical(text: string): number | null {
  const day = text.slice(0, 10);
  if (day !== knownDay) {
    const dayMs = Date.parse(day);
    if (Number.isNaN(dayMs)) return null;
    knownDay = day;
    knownDayMs = dayMs;
  }
  const timeMs =
    twoDigits(text, 11) * HOUR +
    twoDigits(text, 14) * MINUTE +
    twoDigits(text, 17) * SECOND +
    digit(text, 20) * 100 +
    twoDigits(text, 21);
  return timeMs < DAY ? knownDayMs + timeMs : null;
}

function twoDigits(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1);
}

function digit(text: string, at: number): number {
  return text.charCodeAt(at) - 0x30;
}
