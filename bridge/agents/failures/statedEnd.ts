/**
 * When a limit ends, wherever the words of a program say so: as an instant, in so much time, or at a time of day in the zone that
 * is named or that the program runs in. Seen in Claude Code, Codex and Gemini CLI, and in the answers of their providers.
 */
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { type CalendarDay, dayAfter, dayIn, instantIn, isZone, type TimeOfDay } from './localTime.js';
import { statedDay } from './statedDay.js';

/** Words that say that an end follows. */
const ENDS =
  /\b(?:re-?sets?|re-?set (?:at|after|in)|(?:try|retry)(?: it)? again|retry|available again|renews?|try after|come back|regain access|refresh(?:es)?|restored|(?:available|wait)(?= (?:in|at|on|for|\d))|until)\b/i;
/** After these words, an end is looked for in so many characters. */
const REACH = 90;
/** A stated minute is over a minute later. Asked within it, the limit may still hold. */
const WITHIN_MINUTE_MS = 59 * SECOND;
/** A time of day that has just passed is meant: the words needed a moment to be read. */
const JUST_PASSED_MS = 5 * MINUTE;

const DAYS_OF_WEEK = 7;
const UNITS: Readonly<Record<string, number>> = { w: DAYS_OF_WEEK * DAY, d: DAY, h: HOUR, m: MINUTE, s: SECOND, ms: 1 };
const UNIT = '(ms|milliseconds?|w|wks?|weeks?|d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?)';
const AMOUNT = `(\\d+(?:\\.\\d+)?)\\s*${UNIT}(?![a-z])`;
const DURATION = new RegExp(
  `\\b(?:in|after|wait(?: for)?)\\s+(?:about\\s+)?((?:${AMOUNT}(?:\\s*,?\\s*(?:and\\s+)?)?)+)`,
  'i',
);
const ONE_UNIT = /\b(?:in|after)\s+(?:about\s+)?(?:an?|one)\s+(minute|hour|day|week)\b/i;
/** Hours and minutes, with or without seconds. */
const AS_ON_A_CLOCK = /\bin\s+(\d{1,3}):([0-5]\d)(?::([0-5]\d))?\b/i;
const EACH_AMOUNT = new RegExp(AMOUNT, 'gi');

const INSTANT_FIELD = /\b(?:(?:resets?|retry)_?at|reset_?time)\\?"?\s*[:=]\s*\\?"?(?=\d{4}-)/i;
const ISO = /\b(\d{4}-\d{2}-\d{2}(?:[T ]| at )\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|UTC|[+-]\d{2}:?\d{2})/;
const EPOCH_FIELD = /\b(?:resets?_?at|reset_?time)"?\s*[:=|]\s*"?(\d{10}|\d{13})\b/i;
const EPOCH_AFTER_LIMIT = /\blimit reached\s*\|\s*(\d{10}|\d{13})\b/i;
const SECONDS_FIELD = /\b(?:resets?_?in_?seconds|retry[-_]after)"?(?:\s*[:=]\s*"?|\s+(?=\d+$))(\d+(?:\.\d+)?)\b/i;
const MILLISECONDS_FIELD = /\bretry[-_]after[-_]ms"?\s*[:=]\s*"?(\d+)\b/i;
const DELAY_FIELD = /\bretry_?delay\\?"?\s*[:=]\s*\\?"?(\d+(?:\.\d+)?)s/i;
const HALF_DAY = /\b(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*([ap])\.?m\b\.?/i;
const WHOLE_DAY = /\b([01]?\d|2[0-3]):([0-5]\d)\b/;
const NAMED_TIME = /\b(?:midnight|noon)\b/i;
const ZONE_IN_BRACKETS = /\(([A-Za-z][\w+/:-]*)\)/;
const ZONE_AFTER_TIME =
  /^\s*(?:[ap]\.?m\.?\s*)?([A-Z]{1,5}(?:[+-]\d{1,2}(?::?\d{2})?)?|[A-Z][a-z]+\/[A-Za-z_/]+|(?:Pacific|Mountain|Central|Eastern) [Tt]ime)\b/;

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
  if (digits === undefined) {
    const field = INSTANT_FIELD.exec(words);
    const [found] = field === null ? [] : (ISO.exec(words.slice(field.index)) ?? []);
    return found === undefined ? null : Date.parse(found);
  }
  return digits.length > 10 ? Number(digits) : Number(digits) * SECOND;
}

function delayOf(words: string, { now }: Reading): number | null {
  const [, milliseconds] = MILLISECONDS_FIELD.exec(words) ?? [];
  if (milliseconds !== undefined) return now + Number(milliseconds);
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
  const [, hours, minutes, seconds = '0'] = AS_ON_A_CLOCK.exec(words) ?? [];
  if (hours !== undefined) {
    return reading.now + Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND;
  }
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

/** A time of day, with a day or without one. */
function clockEnd(words: string, { now, zone: own }: Reading): number | null {
  const timed = (rest: string) => HALF_DAY.exec(rest) ?? WHOLE_DAY.exec(rest) ?? NAMED_TIME.exec(rest);
  const zone = zoneIn(words, timed(words)) ?? own;
  const today = dayIn(zone, now);
  const stated = statedDay(words, today);
  const time = timed(stated?.rest ?? words);
  if (time === null) return stated === null ? null : instantIn(zone, stated.day, { hour: 0, minute: 0 });
  const at = timeOf(time);
  if (at === null) return null;
  const onDay = (which: CalendarDay) => instantIn(zone, which, at) + WITHIN_MINUTE_MS;
  const first = onDay(stated?.day ?? today);
  const isOver = first < now - JUST_PASSED_MS;
  if (stated === null) return isOver ? onDay(dayAfter(today)) : first;
  return isOver && stated.isWeekday ? onDay(dayAfter(stated.day, DAYS_OF_WEEK)) : first;
}

function zoneIn(words: string, time: RegExpExecArray | null): string | null {
  const [, inBrackets] = ZONE_IN_BRACKETS.exec(words) ?? [];
  if (inBrackets !== undefined && isZone(inBrackets)) return inBrackets;
  const [, after] = time === null ? [] : (ZONE_AFTER_TIME.exec(words.slice(time.index + time[0].length)) ?? []);
  return after !== undefined && isZone(after) ? after : null;
}

function timeOf([words, hours, minutes = '0', half]: RegExpExecArray): TimeOfDay | null {
  if (hours === undefined) return { hour: words.toLowerCase() === 'noon' ? 12 : 0, minute: 0 };
  const hour = Number(hours);
  if (half === undefined) return { hour, minute: Number(minutes) };
  if (hour < 1 || hour > 12) return null;
  return { hour: (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0), minute: Number(minutes) };
}
