/** Up to where Telegram's updates are handled: what the next poll asks for, and which updates were seen before. */
import type { Check } from '../../../src/redis/commit.js';
import { DAY } from '../../../src/time.js';
import type { TelegramFoundation } from '../api.js';

/**
 * After a week without updates Telegram may continue with a lower number (https://core.telegram.org/bots/api#update), and an
 * old offset would hide it. So an offset is used only while it is young; by then everything below it was confirmed.
 */
const TRUSTED_MS = 6 * DAY;
/** How far below the stored offset an update counts as seen before. */
const REPLAY_WINDOW = 10_000;

export class PollOffset {
  readonly #base: TelegramFoundation;
  #stored: number | null | 'unread' = 'unread';
  #next: number | null = null;
  #nextAt = 0;
  /** Handled, although the store may not know. */
  #handledId: number | null = null;

  constructor(base: TelegramFoundation) {
    this.#base = base;
  }

  /** The offset that the next poll asks for; null to get all that Telegram has. */
  get next(): number | null {
    return this.#base.clock.monotonic() - this.#nextAt < TRUSTED_MS ? this.#next : null;
  }

  /** Another bridge continues from here: the store is asked again afterwards. */
  forget(): void {
    this.#stored = 'unread';
    this.#next = null;
  }

  /** @throws ioredis' error if Redis is unreachable */
  async read(): Promise<void> {
    const { store, api } = this.#base;
    if (this.#stored === 'unread') this.#stored = await store.records.updateOffset(api.botId);
  }

  /** Whether the store has the update as handled, as far as that was read. */
  isReplay(updateId: number): boolean {
    const stored = this.#stored;
    return typeof stored === 'number' && updateId < stored && updateId >= stored - REPLAY_WINDOW;
  }

  /** Whether the update was handled, although the store may not know. */
  isHandled(updateId: number): boolean {
    return this.isReplay(updateId) || updateId === this.#handledId;
  }

  noteHandled(updateId: number): void {
    this.#handledId = updateId;
  }

  /** The next poll confirms it. @throws FencedError if another process takes messages in now; ioredis' error */
  async advance(updateId: number, fence: readonly Check[]): Promise<void> {
    const { store, api, clock } = this.#base;
    await store.chatMemory.saveUpdateOffset(api.botId, updateId + 1, fence);
    this.#next = updateId + 1;
    this.#nextAt = clock.monotonic();
  }
}
