/** A revoked token is refused until a person enters the new one: a critical event says so once, and once more when it is over. */
import { TroubleWatch, type TroubleWatchOptions } from '../../../monitoring/events/troubleWatch.js';
import type { Trouble } from '../../../src/jobs/troubles.js';

const REFUSAL = { event: 'bot_refused', reason: 'bot_token_refused', placeName: 'bot_id' } as const;

export interface BotWatchOptions extends TroubleWatchOptions {
  readonly troubles: TroubleWatchOptions['troubles'] & { all(): Promise<Trouble[]> };
}

export class BotWatch {
  readonly #options: BotWatchOptions;
  readonly #botId: string;
  /** Null while it is not known: another process may have met a refusal. */
  #isAccepted: boolean | null = null;

  constructor(options: BotWatchOptions, botId: string) {
    this.#options = options;
    this.#botId = botId;
  }

  /** Never throws. @param words why, and what to do */
  async refused(words: string): Promise<void> {
    if (this.#isAccepted === false) return;
    await this.#watch(this.#botId).begin(words);
    this.#isAccepted = false;
  }

  /** Never throws. Also ends the trouble of a bot that this one replaces. */
  async accepted(): Promise<void> {
    if (this.#isAccepted === true) return;
    const { troubles, logger } = this.#options;
    try {
      for (const { place } of await troubles.all()) await this.#watch(place).end();
      this.#isAccepted = true;
    } catch (err) {
      logger.debug({ err }, 'that the bot is accepted again is noted after the next poll');
    }
  }

  #watch(botId: string): TroubleWatch {
    return new TroubleWatch(this.#options, REFUSAL, botId);
  }
}
