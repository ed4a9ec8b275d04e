/**
 * Tells of a Redis that is away once for the whole process, whatever the number of connections and of parts that meet it:
 * one line when it goes, one a minute while it stays away, one when it is back.
 */
import type { Logger } from '../../src/logger.js';
import { isCommandTimeout, isConnectionLost } from '../../src/store/storeTrouble.js';
import { type Clock, describeDuration, MINUTE, type Timer } from '../../src/time.js';

const SAID_AGAIN_AFTER_MS = MINUTE;

export class RedisOutage {
  readonly #clock: Clock;
  readonly #logger: () => Logger;
  /** Connections that are away. */
  readonly #away = new Set<object>();
  #since = 0;
  #timer: Timer | null = null;
  #timeoutSaidAt: number | null = null;

  /** @param logger asked for at the first word: it asks {@link covers} in turn */
  constructor(clock: Clock, logger: () => Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * Whether an error says nothing that is not told here. A lost connection always; a server that accepts commands and then
   * does not answer closes none, so of its errors one a minute passes.
   */
  covers(error: unknown): boolean {
    if (isConnectionLost(error)) return true;
    if (!isCommandTimeout(error)) return false;
    if (this.#away.size > 0) return true;
    const now = this.#clock.monotonic();
    if (this.#timeoutSaidAt !== null && now - this.#timeoutSaidAt < SAID_AGAIN_AFTER_MS) return true;
    this.#timeoutSaidAt = now;
    return false;
  }

  /**
   * @param connection the one that is away; the first of them is told
   * @param where the address, without secrets
   * @param words a sentence for the log
   */
  away(connection: object, where: string, words: string): void {
    this.#away.add(connection);
    if (this.#away.size > 1) return;
    this.#since = this.#clock.monotonic();
    this.#logger().warn(words);
    this.#remindOf(where);
  }

  /** Told when the last connection is back. */
  back(connection: object, where: string): void {
    if (!this.#away.delete(connection) || this.#away.size > 0) return;
    this.#timer?.cancel();
    const away_ms = Math.round(this.#clock.monotonic() - this.#since);
    this.#logger().info({ away_ms }, `Redis at ${where} is back after ${describeDuration(away_ms)}`);
  }

  /** Says no more. */
  end(): void {
    this.#timer?.cancel();
    this.#away.clear();
  }

  #remindOf(where: string): void {
    this.#timer = this.#clock.after(SAID_AGAIN_AFTER_MS, () => {
      const away_ms = Math.round(this.#clock.monotonic() - this.#since);
      const said = `Redis at ${where} has been away for ${describeDuration(away_ms)}; trying again until it is back`;
      this.#logger().warn({ away_ms }, said);
      this.#remindOf(where);
    });
  }
}
