/** Builds the places where people read: Telegram if there is a token, and the terminal in any case. */

import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import { endOnDisk } from '../../monitoring/rounds/answeredLocally.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { KnownEnd } from '../../src/jobs/sessionEnds.js';
import type { Store } from '../../src/jobs/store.js';
import { ChatRouter, TERMINAL_CHAT } from '../chat/chatRouter.js';
import { DeliveryService } from '../chat/deliveryService.js';
import { ProgressRouter } from '../chat/progressRouter.js';
import { SendMemory } from '../chat/sendMemory.js';
import { TelegramApi } from '../telegram/api.js';
import { TelegramDelivery } from '../telegram/delivery.js';
import { ProgressDisplay } from '../telegram/progress.js';
import { ProgressEdits } from '../telegram/progressEdits.js';
import { TelegramChat } from '../telegram/telegramChat.js';
import { AbsentTerminal } from '../terminal/absentTerminal.js';
import { TerminalChat } from '../terminal/terminalChat.js';
import { TerminalProgress } from '../terminal/terminalProgress.js';
import type { TerminalWriter } from '../terminal/terminalText.js';
import type { Foundation } from './foundation.js';

export interface ChatParts {
  readonly router: ChatRouter;
  readonly delivery: DeliveryService;
  readonly progress: ProgressRouter;
  /** One sentence as a reply, beside progress and final message; it may be lost. */
  say(session: AgentSession, text: string): Promise<void>;
  /** As in {@link SagaContext}. */
  endOnDisk(session: AgentSession): Promise<KnownEnd | null>;
  /** Null if the terminal is the only chat. */
  readonly telegram: { readonly api: TelegramApi; readonly chat: TelegramChat } | null;
}

/** @param writer the terminal; null if nobody reads it: its messages wait for the next bridge */
export function buildChat(
  foundation: Foundation,
  store: Store,
  events: DurableEvents,
  writer: TerminalWriter | null,
): ChatParts {
  const { settings, clock, logger, redact, here } = foundation;
  const { progressEveryMs, drainMs } = settings.timings;
  const terminal =
    writer === null
      ? new AbsentTerminal(store.records)
      : new TerminalChat({ store, clock, logger, redact, writer, here, events });
  const { records } = store;
  const disk = { records, logsFolder: settings.logsFolder, bootId: here.boot_id, logger };
  const routed = { records, terminal, logsFolder: settings.logsFolder, clock, logger };
  const inTerminal = new ChatRouter({ ...routed, telegram: null });
  const terminalProgress = new TerminalProgress({
    writer: writer ?? { write: () => undefined },
    clock,
    redact,
    progressEveryMs,
    deliver: (sessionId) => inTerminal.deliver(sessionId),
  });
  const sayInTerminal = (session: AgentSession, text: string) => terminal.showProgress(session.session_id, text);
  if (settings.telegram === null) {
    return {
      router: inTerminal,
      delivery: new DeliveryService({ records, chat: inTerminal, clock, logger, here }),
      progress: new ProgressRouter(null, terminalProgress),
      telegram: null,
      say: sayInTerminal,
      endOnDisk: (session) => endOnDisk({ ...disk, toldEnd: async () => null }, session),
    };
  }
  const api = new TelegramApi(settings.telegram, clock);
  const edits = new ProgressEdits({ store, api, clock, logger });
  const display = new ProgressDisplay({ store, api, edits, clock, logger, redact, progressEveryMs });
  const quietProgress = (sessionId: string) => display.quiet(sessionId);
  const memory = new SendMemory({ logsFolder: settings.logsFolder, clock, logger, here });
  const sent = { store, api, edits, memory, clock, logger, redact };
  const sending = new TelegramDelivery({ ...sent, quietProgress, here, drainMs, events });
  const chat = new TelegramChat(sending, display);
  const router = new ChatRouter({ ...routed, telegram: chat });
  return {
    router,
    delivery: new DeliveryService({ records, chat: router, clock, logger, here }),
    progress: new ProgressRouter(display, terminalProgress),
    telegram: { api, chat },
    endOnDisk: (session) => endOnDisk({ ...disk, toldEnd: (id, since) => memory.told(id, since) }, session),
    async say(session, text) {
      if (session.request.chat_id === TERMINAL_CHAT) return sayInTerminal(session, text);
      const to = {
        chatId: session.request.chat_id,
        threadId: session.request.thread_id,
        replyTo: session.request.message_id,
      };
      const sent = await api.sendMessage(to, { plain: text, html: null }, { silent: true });
      await store.chatMemory.recordOwnMessage(session, sent);
    },
  };
}
