/**
 * The updates that wait for the bot, and the one poller that may wait for them
 * (https://core.telegram.org/bots/api#getupdates).
 *
 * An update stays until a call with a higher offset confirms it, so an answer that was lost is told again. A second
 * poller ends the first one with 409.
 */
import { SECOND } from '../../../src/time.js';
import { ApiError } from './apiError.js';

export interface QueuedUpdate {
  readonly update_id: number;
  readonly [kind: string]: unknown;
}

export interface PollRequest {
  readonly offset: number | null;
  readonly limit: number | null;
  readonly timeoutS: number;
  /** Remembered for the next calls; null leaves it as it is. */
  readonly allowedUpdates: readonly string[] | null;
}

interface Poller {
  readonly wake: () => void;
  readonly conflict: () => void;
}

const FIRST_UPDATE_ID = 1_000;
const MOST_UPDATES = 100;
const LONGEST_POLL_S = 50;
/** Left out unless the bot asks for them by name. */
const ON_REQUEST_ONLY = ['chat_member', 'message_reaction', 'message_reaction_count'];

export class UpdateQueue {
  #waiting: QueuedUpdate[] = [];
  #nextId = FIRST_UPDATE_ID;
  #allowed: readonly string[] = [];
  #poller: Poller | null = null;

  /** Whether a long poll is open now. */
  get polling(): boolean {
    return this.#poller !== null;
  }

  /** Updates that the bot has not confirmed. */
  get unconfirmed(): readonly QueuedUpdate[] {
    return this.#waiting;
  }

  push(kind: string, payload: unknown): void {
    if (!this.#wants(kind)) return;
    this.#waiting.push({ update_id: this.#nextId, [kind]: payload });
    this.#nextId += 1;
    this.#poller?.wake();
  }

  /**
   * @param gone aborted when the poller's connection ends
   * @returns the updates from `offset` on, as soon as there is one or the time is over
   * @throws ApiError 409 when another poller comes meanwhile
   */
  poll(request: PollRequest, gone: AbortSignal): Promise<readonly QueuedUpdate[]> {
    this.#poller?.conflict();
    this.#confirm(request.offset);
    if (request.allowedUpdates !== null) this.#allowed = request.allowedUpdates;
    const limit = Math.min(Math.max(request.limit ?? MOST_UPDATES, 1), MOST_UPDATES);
    const take = () => this.#waiting.slice(0, limit);
    const timeoutS = Math.min(request.timeoutS, LONGEST_POLL_S);
    if (this.#waiting.length > 0 || timeoutS <= 0 || gone.aborted) return Promise.resolve(take());
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', wake);
        if (this.#poller === poller) this.#poller = null;
      };
      const wake = () => {
        leave();
        resolve(take());
      };
      const conflict = () => {
        leave();
        reject(
          new ApiError(
            409,
            'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
          ),
        );
      };
      const poller: Poller = { wake, conflict };
      const timer = setTimeout(wake, timeoutS * SECOND);
      gone.addEventListener('abort', wake, { once: true });
      this.#poller = poller;
    });
  }

  /** As Telegram may do after a week without updates: the next ones have lower numbers. Nothing may be waiting. */
  countAnewFrom(updateId: number): void {
    this.#nextId = updateId;
  }

  /** Forgets every update that was not fetched yet. */
  dropAll(): void {
    this.#waiting = [];
  }

  /** Ends the open poll. */
  stop(): void {
    this.#poller?.wake();
  }

  /** A negative offset counts from the end and forgets what lies before. */
  #confirm(offset: number | null): void {
    if (offset === null) return;
    this.#waiting = offset < 0 ? this.#waiting.slice(offset) : this.#waiting.filter((each) => each.update_id >= offset);
  }

  #wants(kind: string): boolean {
    return this.#allowed.length === 0 ? !ON_REQUEST_ONLY.includes(kind) : this.#allowed.includes(kind);
  }
}
