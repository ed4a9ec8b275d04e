/** Identifiers. Every part of a path, a key or a job id is checked here: no `../`, colon, newline or emoji gets through. */
import { randomFillSync } from 'node:crypto';
import { UsageError } from './errors.js';
import type { Clock } from './time.js';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const PROJECT_KEY = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const REVIVAL = '_r1';
const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,159}$/;

/** Characters of an id that are enough to name it, as long as no other id has them. */
const SHORTEST_NAME = 4;
/** A person picks one of them. */
const MOST_SHOWN = 20;

const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;
/** For the next ids: asked for at each id, they take 10 µs of the 200 µs that the bridge needs for a message (`bench/intake`). */
const randomness = { bytes: Buffer.alloc(64 * RANDOM_DIGITS), used: 64 * RANDOM_DIGITS };

/** @returns a ULID: 26 characters, sorted by time (specification: github.com/ulid/spec) */
export function ulid(clock: Pick<Clock, 'now'>): string {
  let time = clock.now();
  let head = '';
  for (let index = 0; index < TIME_DIGITS; index += 1) {
    head = CROCKFORD.charAt(time % 32) + head;
    time = Math.floor(time / 32);
  }
  return head + randomDigits();
}

function randomDigits(): string {
  const { bytes } = randomness;
  if (randomness.used === bytes.length) randomness.used = 0;
  if (randomness.used === 0) randomFillSync(bytes);
  const chosen = bytes.subarray(randomness.used, randomness.used + RANDOM_DIGITS);
  randomness.used += RANDOM_DIGITS;
  let digits = '';
  for (const byte of chosen) digits += CROCKFORD.charAt(byte % 32);
  return digits;
}

/** @returns when the ULID was made, epoch milliseconds; null for any other text */
export function timeOfUlid(text: string): number | null {
  if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text)) return null;
  return [...text.slice(0, 10)].reduce((time, digit) => time * 32 + CROCKFORD.indexOf(digit), 0);
}

/**
 * @param name an id, or at least {@link SHORTEST_NAME} characters of its beginning or its end, in either case
 * @returns the ids that may be meant
 */
export function idsNamed(ids: readonly string[], name: string): string[] {
  const typed = name.trim().toUpperCase();
  const isPart = typed.length >= SHORTEST_NAME;
  const whole = ids.filter((id) => id.toUpperCase() === typed);
  if (whole.length > 0 || !isPart) return whole;
  return ids.filter((id) => id.toUpperCase().startsWith(typed) || id.toUpperCase().endsWith(typed));
}

/**
 * @param what in the plural: `handoffs`
 * @param remedy what to type instead: `more of its id`
 * @returns the beginning of the error for a name that several have; they follow, each in a line
 */
export function ambiguity(name: string, count: number, what: string, remedy = 'more of its id'): string {
  return `${JSON.stringify(name)} may be one of ${count} ${what}. Name ${remedy}:`;
}

/** @param rows one for each that may be meant, the likeliest first; further parameters as of {@link ambiguity} */
export function ambiguous(name: string, rows: readonly string[], what: string, remedy?: string): UsageError {
  const more = rows.length - MOST_SHOWN;
  const shown = rows.slice(0, MOST_SHOWN).map((row) => `  ${row}`);
  return new UsageError([
    ambiguity(name, rows.length, what, remedy),
    ...shown,
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ]);
}

/** @returns whether `text` may name a project: lower-case letters, digits, `_` and `-`, at most 40 */
export function isProjectKey(text: string): boolean {
  return PROJECT_KEY.test(text);
}

/** @returns whether `text` may name a session, and so a folder below `logs/sessions` */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

/** @returns `text` @throws UsageError if it cannot name a session */
export function requireSessionId(text: string): string {
  if (isSessionId(text)) return text;
  throw new UsageError(
    `${JSON.stringify(text.slice(0, 80))} is not a session id: letters, digits, "_" and "-" only, for example tg_popoto_-5294327191_4469`,
  );
}

/** @returns `tg_{project}_{chat}_{message}`; `tg_{project}_{chat}_b{bot}_{message}` if the bot's numbers are marked */
export function telegramSessionId(
  projectKey: string,
  chatId: string,
  messageId: string,
  bot: string | null = null,
): string {
  return requireSessionId(`tg_${projectKey}_${chatId}_${bot === null ? '' : `b${bot}_`}${messageId}`);
}

/** @returns the bot that marks the session's id; null if none does. Otherwise a chat's id is in that place, which has no `b` */
export function botOfSession(sessionId: string): string | null {
  return /^tg_.+_-?\d+_b(\d+)_\d+(?:_r1)?$/.exec(sessionId)?.[1] ?? null;
}

export function commandLineSessionId(projectKey: string, id: string): string {
  return requireSessionId(`cli_${projectKey}_${id}`);
}

/** @returns whether an id has the form of those that bridges give to the sessions of messages */
export function isMessageSessionId(sessionId: string): boolean {
  return /^(?:tg|cli)_.+_/.test(sessionId);
}

/** @returns the id of a message's first attempt, for either attempt */
export function firstAttemptId(sessionId: string): string {
  return sessionId.endsWith(REVIVAL) ? sessionId.slice(0, -REVIVAL.length) : sessionId;
}

export function revivalSessionId(sessionId: string): string {
  return requireSessionId(`${sessionId}${REVIVAL}`);
}
