/**
 * How much of a group's limit is spent. Telegram lets a bot send and edit about twenty messages a minute in one group, and all topics
 * of a forum are one group (core.telegram.org/bots/faq, "My bot is hitting limits"). A progress line must not use up what an answer
 * needs, so progress gets what is left when the final messages of all running work are set aside.
 */
import { Newest } from '../../src/newest.js';
import { type Clock, MINUTE } from '../../src/time.js';

/** The methods that bring a message. */
const SENDS = ['sendMessage', 'sendDocument'];
const LIMIT = 20;
const MOST_BANNED = 1_000;
/** A final message, and the last line of its progress message. */
const KEPT_FOR_EACH = 2;
/** However much is running, something moves. */
const LEAST_FOR_PROGRESS = 3;

export class ChatSpending {
  readonly #clock: Clock;
  /** The instants of the last minute's calls, by group. */
  readonly #calls = new Map<string, number[]>();
  /** Chats that asked for a pause, by kind of call. */
  readonly #bannedUntil = new Newest<string, number>(MOST_BANNED);
  readonly #lastLine = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A message is being sent or edited there. */
  note(chatId: string): void {
    if (!isGroup(chatId)) return;
    const now = this.#clock.monotonic();
    this.#calls.set(chatId, [...this.#recent(chatId), now]);
    this.#forgetOld(now);
  }

  /** The chat asked for a pause: calls of that kind are not made there before its end. */
  ban(chatId: string, method: string, lengthMs: number): void {
    this.#bannedUntil.set(banKey(chatId, method), this.#clock.monotonic() + lengthMs);
  }

  /** @returns how long the chat's pause for calls of that kind still lasts, in milliseconds; 0 if there is none */
  banMs(chatId: string, method: string): number {
    const until = this.#bannedUntil.get(banKey(chatId, method)) ?? 0;
    return Math.max(until - this.#clock.monotonic(), 0);
  }

  /** @param kind the first line of a message is not held back @returns milliseconds to wait; 0 counts the line as shown */
  waitForLine(chatId: string, running: number, kind: 'first' | 'edit'): number {
    const now = this.#clock.monotonic();
    const bannedMs = this.banMs(chatId, 'sendMessage');
    if (bannedMs > 0) return bannedMs;
    if (!isGroup(chatId)) return 0;
    const share = Math.max(LIMIT - KEPT_FOR_EACH * running, LEAST_FOR_PROGRESS);
    const recent = this.#recent(chatId);
    const tooEarly = (this.#lastLine.get(chatId) ?? Number.NEGATIVE_INFINITY) + MINUTE / share - now;
    // One alone may show what it has: nothing else waits for its turn.
    if (kind === 'edit' && running > 1 && tooEarly > 0) return tooEarly;
    const full = recent.length - share;
    if (full >= 0) return Math.max((recent[full] ?? now) + MINUTE - now, 1);
    this.#lastLine.set(chatId, now);
    return 0;
  }

  #recent(chatId: string): number[] {
    const since = this.#clock.monotonic() - MINUTE;
    return (this.#calls.get(chatId) ?? []).filter((at) => at > since);
  }

  /** Groups that were silent for a minute. */
  #forgetOld(now: number): void {
    for (const [chatId, calls] of this.#calls) {
      if ((calls.at(-1) ?? 0) > now - MINUTE) continue;
      this.#calls.delete(chatId);
      this.#lastLine.delete(chatId);
    }
  }
}

/** Messages and files count together; of every other method only its own calls. */
function banKey(chatId: string, method: string): string {
  return `${chatId} ${SENDS.includes(method) ? 'send' : method}`;
}

/** Ids of groups are negative. Private chats have no limit of this kind. */
function isGroup(chatId: string): boolean {
  return chatId.startsWith('-');
}
