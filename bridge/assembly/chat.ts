/** Builds the places where people read: Telegram if there is a token, and the terminal in any case. */

import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import { endOnDisk } from '../../monitoring/rounds/answeredLocally.js';
import type { Settings } from '../../src/config/settings.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import type { Service } from '../../src/service.js';
import { ChatRouter } from '../chat/chatRouter.js';
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

export type ChatParts = ReturnType<typeof buildChat>;

/** @param writer the terminal; null if nobody reads it: its messages wait for the next bridge */
export function buildChat(foundation: Foundation, store: Store, events: DurableEvents, writer: TerminalWriter | null) {
  const { settings, clock, logger, redact, here } = foundation;
  const { logsFolder, timings } = settings;
  const { records } = store;
  const terminal =
    writer === null
      ? new AbsentTerminal(records)
      : new TerminalChat({ store, clock, logger, redact, writer, here, events });
  const routed = { records, terminal, logsFolder, clock, logger };
  const inTerminal = new ChatRouter({ ...routed, telegram: null });
  const terminalProgress = new TerminalProgress({
    writer: writer ?? { write: () => undefined },
    clock,
    redact,
    progressEveryMs: timings.progressEveryMs,
    deliver: (sessionId) => inTerminal.deliver(sessionId),
  });
  const telegram = settings.telegram === null ? null : buildTelegram(foundation, store, events, settings.telegram);
  const router = telegram === null ? inTerminal : new ChatRouter({ ...routed, telegram: telegram.chat });
  const delivery = new DeliveryService({ records, chat: router, clock, logger, here });
  const services: Service[] = telegram === null ? [delivery] : [delivery, telegram.chat];
  const toldEnd = async (id: string, since: number) => telegram?.memory.told(id, since) ?? null;
  const disk = { records, logsFolder, bootId: here.boot_id, logger, toldEnd };
  return {
    router,
    delivery,
    services,
    progress: new ProgressRouter(telegram?.display ?? null, terminalProgress),
    telegram,
    endOnDisk: (session: AgentSession) => endOnDisk(disk, session),
  };
}

function buildTelegram(
  { settings, clock, logger, redact, here }: Foundation,
  store: Store,
  events: DurableEvents,
  access: NonNullable<Settings['telegram']>,
) {
  const { progressEveryMs, drainMs } = settings.timings;
  const api = new TelegramApi(access, clock);
  const edits = new ProgressEdits({ store, api, clock, logger });
  const display = new ProgressDisplay({ store, api, edits, clock, logger, redact, progressEveryMs });
  const quietProgress = (sessionId: string) => display.quiet(sessionId);
  const memory = new SendMemory({ logsFolder: settings.logsFolder, clock, logger, here });
  const sent = { store, api, edits, memory, clock, logger, redact };
  const delivery = new TelegramDelivery({ ...sent, quietProgress, here, drainMs, events });
  return { api, display, memory, chat: new TelegramChat({ delivery, progress: display, api, store }) };
}
