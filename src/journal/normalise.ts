/**
 * The parts of reading a journal line that both shapes share.
 *
 * Version 1 lines carry `timestamp` and `event`. Older journals (the field's first `tool_use.jsonl`) carry `timestamp`, or
 * `start_time` and `end_time` in epoch seconds with a fraction, often hold results only, and then have no event, no ids and no
 * error flag.
 */
import { SECOND } from '../time.js';
import type { JournalRecord } from './record.js';

const DATE_AND_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?$/i;
const ZONE = /(Z|[+-]\d\d:?\d\d)$/i;
const CANONICAL_LENGTH = '2026-02-05T10:00:00.000Z'.length;
const MINUTE_LENGTH = '2026-02-05T10:00:'.length;
const CANONICAL_MINUTE = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:$/;
const DOT = 0x2e;
const ZERO = 0x30;
const ZULU = 0x5a;
/** Larger numbers are milliseconds: as seconds they would be after the year 5000. */
const LARGEST_SECONDS = 1e11;
/** The end of the year 9999, the latest time that any clock shows. */
const LAST_INSTANT_MS = 253_402_300_799_999;
/** Agents that keep journals are younger. A line of a clock that was never set would make a verdict speak of decades. */
const FIRST_INSTANT_MS = Date.UTC(2020, 0);
const END_OF_INSTANTS_MS = Date.UTC(2100, 0);
const LEAP_SECOND = /^(.{11}\d\d:\d\d:)60/;

/** @returns the line's event; a line that names a tool but no event is a result of the older shape; null if it has neither */
export function eventOf(record: JournalRecord): string | null {
  const { event } = record;
  if (typeof event === 'string') return event;
  return event === undefined && typeof record.tool_name === 'string' ? 'post_tool_use' : null;
}

/** @returns UTC epoch milliseconds; null if the line has no instant, or one that no journal can be from */
export function timeOf(record: JournalRecord, event: string): number | null {
  return possibleInstantOf(record.timestamp) ?? timeOfOlderShape(record, event);
}

function timeOfOlderShape(record: JournalRecord, event: string): number | null {
  const own = event === 'post_tool_use' ? record.end_time : record.start_time;
  const other = event === 'post_tool_use' ? record.start_time : record.end_time;
  return possibleInstantOf(own) ?? possibleInstantOf(other);
}

function possibleInstantOf(value: unknown): number | null {
  const instantMs = instantOf(value);
  return instantMs !== null && instantMs >= FIRST_INSTANT_MS && instantMs < END_OF_INSTANTS_MS ? instantMs : null;
}

/** @param value ISO 8601 (UTC if it names no zone), epoch seconds or epoch milliseconds @returns epoch milliseconds, whole */
export function instantOf(value: unknown): number | null {
  if (typeof value === 'string') return parseIso(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  const instantMs = Math.round(Math.abs(value) < LARGEST_SECONDS ? value * 1_000 : value);
  return Math.abs(instantMs) <= LAST_INSTANT_MS ? instantMs : null;
}

function parseIso(text: string): number | null {
  const canonicalMs = parseCanonical(text);
  if (canonicalMs !== null) return canonicalMs;
  if (!DATE_AND_TIME.test(text)) return null;
  const leapMs = LEAP_SECOND.test(text) ? SECOND : 0;
  const known = leapMs === 0 ? text : text.replace(LEAP_SECOND, '$159');
  const instantMs = Date.parse(ZONE.test(known) ? known : `${known.replace(' ', 'T')}Z`);
  return Number.isNaN(instantMs) ? null : instantMs + leapMs;
}

/** Consecutive lines usually share their minute, so its start is cached. */
let knownMinute = '(none)';
let knownMinuteMs = 0;

/**
 * Reads `2026-02-05T10:00:00.000Z` by its digits, several times as fast as `Date.parse`, which would take a quarter of the time
 * of parsing a short line's JSON (`npm run bench -- fold`).
 * @returns null for every other form, which may still be an instant; also for midnight written as the end of a day
 */
function parseCanonical(text: string): number | null {
  if (text.length !== CANONICAL_LENGTH || text.charCodeAt(19) !== DOT || text.charCodeAt(23) !== ZULU) return null;
  const seconds = digits(text, 17, 19);
  const restMs = digits(text, 20, 23);
  if (seconds < 0 || seconds >= 60 || restMs < 0) return null;
  if (!text.startsWith(knownMinute)) {
    const minute = text.slice(0, MINUTE_LENGTH);
    const minuteMs = CANONICAL_MINUTE.test(minute) ? Date.parse(`${minute}00.000Z`) : Number.NaN;
    if (Number.isNaN(minuteMs)) return null;
    knownMinute = minute;
    knownMinuteMs = minuteMs;
  }
  return knownMinuteMs + seconds * SECOND + restMs;
}

/** @returns a negative number if there is anything but digits */
function digits(text: string, from: number, until: number): number {
  let value = 0;
  for (let at = from; at < until; at += 1) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
