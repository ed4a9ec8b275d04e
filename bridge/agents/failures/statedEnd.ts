/**
 * When a limit ends, wherever the words of a program say so: as an instant, in so much time, or at a time of day in the zone that
 * is named or that the program runs in. Seen in Claude Code, Codex and Gemini CLI, and in the answers of their providers.
 */
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { type CalendarDay, dayAfter, dayIn, instantIn, isZone, type TimeOfDay } from './localTime.js';

/** Words that say that an end follows. */
const ENDS =
  /\b(?:re-?sets?|re-?set (?:at|after|in)|(?:try|retry)(?: it)? again|retry|available again|renews?|try after|come back|regain access|until)\b/i;
/** After these words, an end is looked for in so many characters. */
const REACH = 90;
/** A stated minute is over a minute later. Asked within it, the limit may still hold. */
const WITHIN_MINUTE_MS = 59 * SECOND;
/** A time of day that has just passed is meant: the words needed a moment to be read. */
const JUST_PASSED_MS = 5 * MINUTE;

const UNITS: Readonly<Record<string, number>> = { d: DAY, h: HOUR, m: MINUTE, s: SECOND, ms: 1 };
const UNIT = '(ms|milliseconds?|d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?)';
const AMOUNT = `(\\d+(?:\\.\\d+)?)\\s*${UNIT}(?![a-z])`;
const DURATION = new RegExp(`\\b(?:in|after)\\s+(?:about\\s+)?((?:${AMOUNT}(?:\\s*,?\\s*(?:and\\s+)?)?)+)`, 'i');
const ONE_UNIT = /\b(?:in|after)\s+(?:about\s+)?(?:an?|one)\s+(minute|hour|day)\b/i;
const EACH_AMOUNT = new RegExp(AMOUNT, 'gi');

const ISO = /\b(\d{4}-\d{2}-\d{2}(?:[T ]| at )\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|UTC|[+-]\d{2}:?\d{2})/;
const EPOCH_FIELD = /\b(?:resets?_?at|reset_?time)"?\s*[:=|]\s*"?(\d{10}|\d{13})\b/i;
const EPOCH_AFTER_LIMIT = /\blimit reached\s*\|\s*(\d{10}|\d{13})\b/i;
const SECONDS_FIELD = /\b(?:resets?_?in_?seconds|retry[-_]after)"?\s*[:=]\s*"?(\d+(?:\.\d+)?)\b/i;
const DELAY_FIELD = /\bretry_?delay\\?"?\s*[:=]\s*\\?"?(\d+(?:\.\d+)?)s/i;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DATE =
  /\b(?:(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(\d{1,2})|(\d{1,2})\.?\s+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?\b/i;
const HALF_DAY = /\b(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*([ap])\.?m\b\.?/i;
const WHOLE_DAY = /\b([01]?\d|2[0-3]):([0-5]\d)\b/;
const ZONE_IN_BRACKETS = /\(([A-Za-z][\w+/:-]*)\)/;
const ZONE_AFTER_TIME = /^\s*(?:[ap]\.?m\.?\s*)?([A-Z]{1,5}(?:[+-]\d{1,2}(?::?\d{2})?)?|[A-Z][a-z]+\/[A-Za-z_/]+)\b/;

export interface Reading {
  /** UTC epoch milliseconds. */
  readonly now: number;
  /** The zone that the program runs in. */
  readonly zone: string;
}

/** @returns when the limit ends that the words state, UTC epoch milliseconds; null if they do not say, or it is long over */
export function statedEnd(words: string, reading: Reading): number | null {
  const end = instantOf(words) ?? delayOf(words, reading) ?? followingOf(words, reading);
  return end === null || end < reading.now - JUST_PASSED_MS ? null : Math.max(end, reading.now);
}

/** A number of seconds or milliseconds since the epoch, in a field. */
function instantOf(words: string): number | null {
  const [, digits] = EPOCH_FIELD.exec(words) ?? EPOCH_AFTER_LIMIT.exec(words) ?? [];
  if (digits === undefined) return null;
  return digits.length > 10 ? Number(digits) : Number(digits) * SECOND;
}

function delayOf(words: string, { now }: Reading): number | null {
  const [, seconds] = SECONDS_FIELD.exec(words) ?? DELAY_FIELD.exec(words) ?? [];
  return seconds === undefined ? null : now + Number(seconds) * SECOND;
}

/** @returns the first end that follows a word announcing one */
function followingOf(words: string, reading: Reading): number | null {
  for (let from = 0; from < words.length; ) {
    const found = ENDS.exec(words.slice(from));
    if (found === null) return null;
    const start = from + found.index;
    const end = readEnd(words.slice(start, start + found[0].length + REACH), reading);
    if (end !== null) return end;
    from = start + found[0].length;
  }
  return null;
}

function readEnd(words: string, reading: Reading): number | null {
  const [, stamp, offset] = ISO.exec(words) ?? [];
  if (stamp !== undefined) return Date.parse(`${stamp.replace(/ at | /, 'T')}${offset === 'UTC' ? 'Z' : offset}`);
  const [, amounts] = DURATION.exec(words) ?? [];
  if (amounts !== undefined) return reading.now + durationOf(amounts);
  const [, unit] = ONE_UNIT.exec(words) ?? [];
  if (unit !== undefined) return reading.now + (UNITS[unit.charAt(0).toLowerCase()] ?? 0);
  return clockEnd(words, reading);
}

function durationOf(amounts: string): number {
  let total = 0;
  for (const [, count, unit = 's'] of amounts.matchAll(EACH_AMOUNT)) {
    const name = unit.toLowerCase();
    total += Number(count) * (UNITS[name === 'ms' || name.startsWith('milli') ? 'ms' : name.charAt(0)] ?? 0);
  }
  return total;
}

/** A time of day, with a date or without one. */
function clockEnd(words: string, { now, zone: own }: Reading): number | null {
  const date = DATE.exec(words);
  const undated = date === null ? words : words.replace(date[0], ' ');
  const time = HALF_DAY.exec(undated) ?? WHOLE_DAY.exec(undated);
  const zone = zoneIn(undated, time) ?? own;
  const today = dayIn(zone, now);
  const day = date === null ? null : dayOf(date, today);
  if (time === null) return day === null ? null : instantIn(zone, day, { hour: 0, minute: 0 });
  const at = timeOf(time);
  if (at === null) return null;
  const onDay = (which: CalendarDay) => instantIn(zone, which, at) + WITHIN_MINUTE_MS;
  if (day !== null) return onDay(day);
  const next = onDay(today);
  return next < now - JUST_PASSED_MS ? onDay(dayAfter(today)) : next;
}

function zoneIn(words: string, time: RegExpExecArray | null): string | null {
  const [, inBrackets] = ZONE_IN_BRACKETS.exec(words) ?? [];
  if (inBrackets !== undefined && isZone(inBrackets)) return inBrackets;
  const [, after] = time === null ? [] : (ZONE_AFTER_TIME.exec(words.slice(time.index + time[0].length)) ?? []);
  return after !== undefined && isZone(after) ? after : null;
}

/** Without a year, the next such day. */
function dayOf([, month, day, dayFirst, monthAfter, year]: RegExpExecArray, today: CalendarDay): CalendarDay {
  const number = MONTHS.indexOf((month ?? monthAfter ?? '').toLowerCase().slice(0, 3)) + 1;
  const isOver = number < today.month - 6;
  return {
    year: year === undefined ? today.year + (isOver ? 1 : 0) : Number(year),
    month: number,
    day: Number(day ?? dayFirst),
  };
}

function timeOf([, hours, minutes = '0', half]: RegExpExecArray): TimeOfDay | null {
  const hour = Number(hours);
  if (half === undefined) return { hour, minute: Number(minutes) };
  if (hour < 1 || hour > 12) return null;
  return { hour: (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0), minute: Number(minutes) };
}
