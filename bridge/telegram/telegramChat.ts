import type { DeliveryState } from '../../src/model.js';
import type { Chat } from '../../src/ports.js';
import type { TelegramDelivery } from './delivery.js';
import type { ProgressDisplay } from './progress.js';

/** Telegram as the place where people read. */
export class TelegramChat implements Chat {
  private readonly delivery: TelegramDelivery;
  private readonly progress: ProgressDisplay;

  constructor(delivery: TelegramDelivery, progress: ProgressDisplay) {
    this.delivery = delivery;
    this.progress = progress;
  }

  deliver(sessionId: string): Promise<DeliveryState> {
    return this.delivery.deliver(sessionId);
  }

  showProgress(sessionId: string, text: string): Promise<void> {
    return this.progress.showProgress(sessionId, text);
  }
}
