import type { DeliveryState } from '../../src/jobs/model.js';
import type { Chat } from '../../src/jobs/ports.js';
import type { Service } from '../../src/service.js';
import type { TelegramDelivery } from './delivery.js';
import type { ProgressDisplay } from './progress.js';

/** Telegram as the place where people read. As a service it only stops: nothing of it runs until it is called. */
export class TelegramChat implements Chat, Service {
  readonly name = 'telegram chat';
  readonly #delivery: TelegramDelivery;
  readonly #progress: ProgressDisplay;

  constructor(delivery: TelegramDelivery, progress: ProgressDisplay) {
    this.#delivery = delivery;
    this.#progress = progress;
  }

  async start(): Promise<void> {}

  /** The bridge stops: messages that are being sent, or still come, have as much time as runs have. */
  hurry(): void {
    this.#delivery.hurry();
  }

  /** After the runs and before the delivery service: the current part is still sent, the rest stays due. */
  async stop(): Promise<void> {
    await Promise.all([this.#delivery.stop(), this.#progress.stop()]);
  }

  deliver(sessionId: string): Promise<DeliveryState> {
    return this.#delivery.deliver(sessionId);
  }

  showProgress(sessionId: string, text: string): Promise<void> {
    return this.#progress.showProgress(sessionId, text);
  }
}
