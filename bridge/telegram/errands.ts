import type { Logger } from '../../src/log/logger.js';
import { type Backoff, type Clock, pauseAfter, SECOND } from '../../src/time.js';
import { ChatError } from './chatError.js';
import type { ChatSpending } from './chatSpending.js';

/** Beyond this many at once, further ones are dropped: a chat that hangs must not fill the memory. */
const MOST_AT_ONCE = 200;
const STOP_LIMIT_MS = 2 * SECOND;
/** No try begins later than this after the first one: Telegram usually asks to wait for less than a minute. */
const LAST_TRY_AFTER_MS = 90 * SECOND;
const BACKOFF: Backoff = { firstMs: SECOND, longestMs: 20 * SECOND };

interface SmallCall {
  readonly name: keyof typeof METHODS;
  /** Null if it is about no chat. */
  readonly chatId: string | null;
}

const METHODS = { answer: 'sendMessage', reaction: 'setMessageReaction', commands: 'setMyCommands' } as const;
type Errand = (signal: AbortSignal) => Promise<unknown>;

/** Small calls whose outcome no caller awaits. One that fails is repeated for a minute: an answer twice is better than none. */
export class Errands {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #spending: ChatSpending;
  /** No further try begins. */
  readonly #stopping = new AbortController();
  /** Calls in progress end. */
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<void>>();

  /** @param spending knows which chats have asked for a pause */
  constructor(logger: Logger, clock: Clock, spending: ChatSpending) {
    this.#logger = logger;
    this.#clock = clock;
    this.#spending = spending;
  }

  /** Never throws, and never rejects. @param onLost called if it did not succeed, and a later one might */
  run(call: SmallCall, errand: Errand, onLost: () => void = () => undefined): void {
    if (this.#running.size >= MOST_AT_ONCE || this.#stopping.signal.aborted) {
      const said = 'dropped: too many minor chat calls are in progress, or the bridge is stopping';
      this.#logger.warn({ errand: call.name }, said);
      onLost();
      return;
    }
    const run = this.#runOne(call, errand, onLost).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async #runOne(call: SmallCall, errand: Errand, onLost: () => void): Promise<void> {
    const [stopping, ending] = [this.#stopping.signal, this.#ending.signal];
    const lastTryAt = this.#clock.monotonic() + LAST_TRY_AFTER_MS;
    for (let tries = 1; ; tries += 1) {
      const err = this.#banOn(call) ?? (await errand(ending).then(() => null, thrownBy));
      if (err === null) return;
      // The end cut it short: that says nothing about Telegram.
      if (ending.aborted) return onLost();
      const pauseMs = pauseBefore(err, tries);
      if (pauseMs !== null && this.#clock.monotonic() + pauseMs <= lastTryAt) {
        await this.#clock.sleep(pauseMs, stopping);
        if (!stopping.aborted) continue;
      }
      const isRefused = err instanceof ChatError && err.kind === 'refused';
      // Some chats allow no reactions, and then it is the same with every message.
      const level = isRefused && call.name === 'reaction' ? 'debug' : 'warn';
      this.#logger[level]({ err, errand: call.name, tries }, 'a small call to the chat failed');
      return isRefused ? undefined : onLost();
    }
  }

  /** Telegram lengthens its pause for a bot that does not wait: until it is over the call is not made. */
  #banOn({ name, chatId }: SmallCall): ChatError | null {
    const leftMs = chatId === null ? 0 : this.#spending.banMs(chatId, METHODS[name]);
    if (leftMs === 0) return null;
    const description = 'an earlier call was asked to wait';
    return new ChatError(METHODS[name], { kind: 'limited', description, retryAfterMs: leftMs });
  }

  /** Gives calls in progress a moment, then ends them; resolves when none is left. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const idle = Promise.all(this.#running).then(() => this.#ending.abort());
    await Promise.race([idle, this.#clock.sleep(STOP_LIMIT_MS, this.#ending.signal)]);
    this.#ending.abort();
    await Promise.all(this.#running);
  }
}

function thrownBy(thrown: unknown): unknown {
  return thrown;
}

/** @returns how long to wait before the next try, in milliseconds; null if a repetition cannot help */
function pauseBefore(err: unknown, tries: number): number | null {
  if (!(err instanceof ChatError) || err.kind === 'refused' || err.kind === 'unauthorized') return null;
  // A limit may ask to wait for nothing at all.
  return Math.max(err.pauseMs ?? 0, pauseAfter(tries, BACKOFF));
}
