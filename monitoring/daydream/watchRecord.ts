/** Notes once a minute that this process watches, while it has the acting watchdog. */
import { describeError } from '../../src/errors.js';
import type { Logger } from '../../src/log/logger.js';
import { SaidOnce } from '../../src/log/saidOnce.js';
import { Rounds } from '../../src/rounds.js';
import type { Service } from '../../src/service.js';
import { type Clock, MINUTE } from '../../src/time.js';
import type { WatchTimes } from './watchTimes.js';

export interface WatchRecordContext {
  readonly times: Pick<WatchTimes, 'note'>;
  readonly clock: Clock;
  readonly logger: Logger;
  isActing(): boolean;
}

export class WatchRecord implements Service {
  readonly name = 'record of the watch';
  readonly #context: WatchRecordContext;
  readonly #troubles: SaidOnce;
  readonly #rounds: Rounds;

  constructor(context: WatchRecordContext) {
    this.#context = context;
    this.#troubles = new SaidOnce(context.logger);
    this.#rounds = new Rounds(context.clock, () => this.runOnce(), MINUTE);
  }

  async start(): Promise<void> {
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    if (!this.#rounds.isRunning) return;
    await this.#rounds.stop();
    await this.runOnce();
  }

  /** Notes the present instant, if this process acts. Never throws: a failure is logged, and retried in a minute. */
  async runOnce(): Promise<void> {
    const { times, clock, isActing } = this.#context;
    if (!isActing()) return;
    try {
      await times.note(clock.now());
      this.#troubles.forget('note');
    } catch (error) {
      this.#troubles.error('note', `the reviews will not know that it was watched: ${describeError(error)}`);
    }
  }
}
