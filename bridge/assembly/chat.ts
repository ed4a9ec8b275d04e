/** Where people read, built: Telegram where there is a token, and the terminal in any case. */
import type { Store } from '../../src/store/store.js';
import { ChatRouter } from '../chat/chatRouter.js';
import { DeliveryService } from '../chat/deliveryService.js';
import { ProgressRouter } from '../chat/progressRouter.js';
import { TelegramApi } from '../telegram/api.js';
import { TelegramDelivery } from '../telegram/delivery.js';
import { ProgressDisplay } from '../telegram/progress.js';
import { TelegramChat } from '../telegram/telegramChat.js';
import { TerminalChat } from '../terminal/terminalChat.js';
import { TerminalProgress } from '../terminal/terminalProgress.js';
import type { TerminalWriter } from '../terminal/terminalText.js';
import type { Foundation } from './foundation.js';

export interface ChatParts {
  readonly router: ChatRouter;
  readonly delivery: DeliveryService;
  readonly progress: ProgressRouter;
  /** Null where the terminal is the only chat. */
  readonly api: TelegramApi | null;
}

export function buildChat(foundation: Foundation, store: Store, writer: TerminalWriter): ChatParts {
  const { settings, clock, logger: log, redact } = foundation;
  const { progressEveryMs } = settings.timings;
  const terminalProgress = new TerminalProgress({ writer, clock, redact, progressEveryMs });
  const terminal = new TerminalChat({ store, redact, writer });
  const api = settings.telegram === null ? null : new TelegramApi(settings.telegram, clock);
  const display = api === null ? null : new ProgressDisplay({ store, api, clock, log, redact, progressEveryMs });
  let telegram: TelegramChat | null = null;
  if (api !== null && display !== null) {
    const quietProgress = (sessionId: string) => display.end(sessionId);
    telegram = new TelegramChat(new TelegramDelivery({ store, api, clock, log, redact, quietProgress }), display);
  }
  const router = new ChatRouter(store.records, telegram, terminal);
  return {
    router,
    delivery: new DeliveryService({ records: store.records, chat: router, clock, log }),
    progress: new ProgressRouter(display, terminalProgress),
    api,
  };
}
