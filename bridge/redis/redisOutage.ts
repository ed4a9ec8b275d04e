/**
 * Logs a Redis that is unreachable, or that answers and refuses its work, once for the whole process, whatever the number of
 * connections and callers that notice: one line when it begins, and for each further reason to refuse; one a minute while it lasts, with
 * the newest reason; one when it ends.
 */
import type { Logger } from '../../src/log/logger.js';
import { isCommandTimeout, isConnectionLost, refusalIn } from '../../src/storeTrouble.js';
import { type Clock, describeDuration, MINUTE, SECOND, type Timer } from '../../src/time.js';

const SAID_AGAIN_AFTER_MS = MINUTE;
/** A Redis at its limit refuses one write and accepts the next. */
const CALM_AFTER_MS = 10 * SECOND;

export class RedisOutage {
  readonly #clock: Clock;
  readonly #absence: Trouble;
  readonly #refusal: Trouble;
  /** Connections that are down. */
  readonly #away = new Set<object>();
  #refusedAt = 0;
  #timeoutSaidAt: number | null = null;

  /** @param logger called for the first line: it calls {@link covers} in turn */
  constructor(clock: Clock, logger: () => Logger) {
    this.#clock = clock;
    this.#absence = new Trouble(clock, logger, 'away_ms');
    this.#refusal = new Trouble(clock, logger, 'refused_ms');
  }

  /**
   * Whether an error adds nothing to what is logged here. That is always so for a lost connection and a refusal. A server that
   * accepts commands and then does not answer is given up as a connection later, so one of its errors a minute passes.
   */
  covers(error: unknown): boolean {
    if (isConnectionLost(error) || this.#notesRefusal(error)) return true;
    if (!isCommandTimeout(error)) return false;
    if (this.#away.size > 0) return true;
    const now = this.#clock.monotonic();
    if (this.#timeoutSaidAt !== null && now - this.#timeoutSaidAt < SAID_AGAIN_AFTER_MS) return true;
    this.#timeoutSaidAt = now;
    return false;
  }

  /** @param connection the first one that is down is logged @param where the address, without secrets */
  away(connection: object, where: string, words: string): void {
    this.#away.add(connection);
    this.#absence.begin(
      words,
      (lasted) => `Redis at ${where} has been away for ${lasted}; trying again until it is back`,
    );
  }

  back(connection: object, where: string): void {
    if (!this.#away.delete(connection) || this.#away.size > 0) return;
    this.#absence.end((lasted) => `Redis at ${where} is back after ${lasted}`);
  }

  /** The result of a small write: null if it was accepted. */
  wrote(error: unknown): void {
    if (this.#notesRefusal(error) || error !== null) return;
    if (this.#clock.monotonic() - this.#refusedAt < CALM_AFTER_MS) return;
    this.#refusal.end((lasted) => `Redis does its work again after ${lasted}`);
  }

  /** Logs nothing from now on. */
  stop(): void {
    this.#absence.forget();
    this.#refusal.forget();
    this.#away.clear();
  }

  #notesRefusal(error: unknown): boolean {
    const refusal = refusalIn(error);
    if (refusal === null) return false;
    const { words, remedy } = refusal;
    this.#refusedAt = this.#clock.monotonic();
    const again = (lasted: string) =>
      `Redis has refused its work for ${lasted} (${words}); trying again until it does it`;
    this.#refusal.begin(`Redis refuses its work (${words}); trying again until it does it`, again, remedy);
    return true;
  }
}

/** A lasting condition, and its log lines. */
class Trouble {
  readonly #clock: Clock;
  readonly #logger: () => Logger;
  readonly #field: string;
  #since: number | null = null;
  #timer: Timer | null = null;
  #again: (lasted: string) => string = String;
  readonly #reasons = new Set<string>();

  /** @param field of the log for its duration, in milliseconds */
  constructor(clock: Clock, logger: () => Logger, field: string) {
    this.#clock = clock;
    this.#logger = logger;
    this.#field = field;
  }

  /**
   * Logs each reason once, because an operator who has mended the first one waits for nothing otherwise.
   * @param again the words of the reminders, as of the newest call
   */
  begin(words: string, again: (lasted: string) => string, reason = ''): void {
    this.#again = again;
    if (this.#reasons.has(reason)) return;
    this.#reasons.add(reason);
    this.#logger().warn(words);
    if (this.#since !== null) return;
    this.#since = this.#clock.monotonic();
    this.#remind();
  }

  /** Does nothing if it has not begun. */
  end(words: (lasted: string) => string): void {
    const lastedMs = this.#lastedMs();
    if (lastedMs === null) return;
    this.forget();
    this.#logger().info({ [this.#field]: lastedMs }, words(describeDuration(lastedMs)));
  }

  forget(): void {
    this.#timer?.cancel();
    this.#since = null;
    this.#reasons.clear();
  }

  #remind(): void {
    this.#timer = this.#clock.after(SAID_AGAIN_AFTER_MS, () => {
      const lastedMs = this.#lastedMs();
      if (lastedMs === null) return;
      this.#logger().warn({ [this.#field]: lastedMs }, this.#again(describeDuration(lastedMs)));
      this.#remind();
    });
  }

  #lastedMs(): number | null {
    return this.#since === null ? null : Math.round(this.#clock.monotonic() - this.#since);
  }
}
