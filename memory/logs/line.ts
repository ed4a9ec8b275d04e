/** One line of a log: a JSON object that says what happened, when, and who wrote it. */
import { UsageError } from '../../src/errors.js';
import { ulid } from '../../src/ids.js';
import { parseRecord } from '../../src/journal/record.js';
import { type Redact, redactMember } from '../../src/log/redact.js';
import { headOf } from '../../src/log/shorten.js';
import { type Clock, isoTime } from '../../src/time.js';
import { ORIGINS, type Origin } from '../words.js';

/** The version of the lines written here, and the highest whose meaning is known. */
export const LOG_VERSION = 1;
export const LONGEST_LINE_BYTES = 64 * 1024;
/** UTF-16 units. */
export const LONGEST_TEXT = 4 * 1024;

/** Unknown fields are kept. */
export interface Line {
  readonly v: number;
  /** A ULID; the same id again means nothing. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly event: string;
  readonly origin: Origin;
  readonly [field: string]: unknown;
}

declare const isChecked: unique symbol;
type Checked<Event, Fields> = Readonly<Fields> & { readonly event: Event; readonly [isChecked]: true };

/** A line that a writer adds to a log: any of its events, with fields that a {@link LineMaker} has checked. */
export type NewLine<Events> = {
  [Event in keyof Events & string]: Checked<Event, Events[Event]>;
}[keyof Events & string];

/** A misspelt field would be ignored by all readers. The compiler refuses it in a call, which it does not in every object literal. */
export type LineMaker<Events> = <Event extends keyof Events & string, Fields extends Events[Event]>(
  event: Event,
  fields: Fields & OnlyKnown<Fields, Events[Event]>,
) => Checked<Event, Events[Event]>;
type OnlyKnown<Value, Known> = Value extends object
  ? Value extends readonly unknown[]
    ? Value
    : {
        readonly [Key in keyof Value]: Key extends KeyOf<Known>
          ? OnlyKnown<Value[Key], NonNullable<MemberOf<Known, Key>>>
          : never;
      }
  : Value;
/** The keys of all alternatives of a union. */
type KeyOf<Known> = Known extends unknown ? keyof Known : never;
type MemberOf<Known, Key> = Known extends unknown ? (Key extends keyof Known ? Known[Key] : never) : never;

export function lineMaker<Events>(): LineMaker<Events> {
  return <Event, Fields>(event: Event, fields: Fields) => ({ event, ...fields }) as Checked<Event, Fields>;
}

/** The parts that all lines of one writer have in common. */
export interface Stamp {
  readonly clock: Clock;
  readonly redact: Redact;
  readonly origin: Origin;
}

/** Some crashed file systems leave zeros before a line, and some editors a byte order mark. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: zeros are what is looked for
const BEFORE_INK = /^[\ufeff\u0000-\u0020]+/;
const DEEPEST_LEVEL = 16;
/** A process that holds a step has two. */
const DEEPEST_OF_TAME = 3;
const CUT = '…';

/**
 * @returns the line, with every text in it redacted and at most {@link LONGEST_TEXT} long; fields that are undefined are left out
 */
export function stampLine({ event, ...fields }: { readonly event: string }, { clock, redact, origin }: Stamp): Line {
  const head = { v: LOG_VERSION, id: ulid(clock), timestamp: isoTime(clock.now()), event, origin };
  const line = { ...head, ...fields };
  return isClean(line, redact) ? line : { ...head, ...(clean(fields, redact, 0) as object) };
}

/** Most lines are short and hold no secret. As a whole they are searched at a fraction of the cost of each name and value. */
function isClean(line: Line, redact: Redact): boolean {
  if (!Object.values(line).every((value) => isTame(value, DEEPEST_OF_TAME))) return false;
  const text = JSON.stringify(line);
  return text.length <= LONGEST_TEXT && redact(text) === text;
}

/** Whether it is written as it is: nothing in it is undefined, and it has no more than so many levels. */
function isTame(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return value !== undefined;
  return levels > 0 && Object.values(value).every((member) => isTame(member, levels - 1));
}

/**
 * @returns the line as it is written, with its line end
 * @throws UsageError if it is longer than {@link LONGEST_LINE_BYTES}
 */
export function textOfLine(line: Line): string {
  const text = `${JSON.stringify(line)}\n`;
  if (Buffer.byteLength(text) <= LONGEST_LINE_BYTES) return text;
  throw new UsageError(
    `"${line.event}" would make a line of more than ${LONGEST_LINE_BYTES} bytes; record it in smaller parts`,
  );
}

/** @returns null for anything but a line */
export function parseLine(text: string): Line | null {
  const record = parseRecord(text.startsWith('{') ? text : text.replace(BEFORE_INK, ''));
  if (record === null) return null;
  const { v, id, timestamp, event, origin } = record;
  const isLine =
    typeof v === 'number' &&
    typeof id === 'string' &&
    typeof event === 'string' &&
    typeof timestamp === 'string' &&
    !Number.isNaN(Date.parse(timestamp)) &&
    (v > LOG_VERSION || ORIGINS.includes(origin as Origin));
  return isLine ? (record as Line) : null;
}

/** @returns UTC epoch milliseconds */
export function timeOfLine({ timestamp }: Line): number {
  return Date.parse(timestamp);
}

function clean(value: unknown, redact: Redact, level: number): unknown {
  if (typeof value === 'string') return headOf(value, LONGEST_TEXT, redact);
  if (value === null || typeof value !== 'object') return value;
  if (level === DEEPEST_LEVEL) return CUT;
  if (Array.isArray(value)) return value.map((item) => clean(item, redact, level + 1));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (member === undefined) return [];
      const cut = clean(member, redact, level + 1);
      return [[headOf(name, LONGEST_TEXT, redact), typeof cut === 'string' ? redactMember(redact, name, cut) : cut]];
    }),
  );
}
