/** Builds the places where people read: Telegram if there is a token, and the terminal in any case. */

import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import { endOnDisk } from '../../monitoring/rounds/answeredLocally.js';
import type { Settings } from '../../src/config/settings.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import type { Service } from '../../src/service.js';
import { AcceptedMessages } from '../accepted/acceptedMessages.js';
import { AcceptanceClocks } from '../chat/acceptanceClocks.js';
import { ChatRouter, ProgressRouter } from '../chat/chatRouter.js';
import { DeliveryService } from '../chat/deliveryService.js';
import type { ChatFoundation } from '../chat/foundation.js';
import { SendMemory } from '../chat/sendMemory.js';
import { TelegramApi } from '../telegram/api.js';
import { BotNumbers } from '../telegram/botNumbers.js';
import { TelegramDelivery } from '../telegram/delivery/delivery.js';
import { ProgressDisplay } from '../telegram/progress/progress.js';
import { ProgressEdits } from '../telegram/progress/progressEdits.js';
import { ProgressMemory } from '../telegram/progress/progressMemory.js';
import { AbsentTerminal, TerminalChat } from '../terminal/terminalChat.js';
import { TerminalProgress } from '../terminal/terminalProgress.js';
import type { TerminalWriter } from '../terminal/terminalText.js';
import type { Foundation } from './foundation.js';

export type ChatParts = ReturnType<typeof buildChat>;

/** @param writer the terminal; null if no person reads it: its messages wait for the next bridge */
export function buildChat(foundation: Foundation, store: Store, events: DurableEvents, writer: TerminalWriter | null) {
  const { settings, logger, here } = foundation;
  const { logsFolder, timings } = settings;
  const { records } = store;
  const accepted = new AcceptedMessages(foundation);
  const clocks = new AcceptanceClocks(foundation.clock);
  const base = { ...foundation, store, events, accepted };
  const terminal = writer === null ? new AbsentTerminal(records) : new TerminalChat(base, writer, clocks);
  const inTerminal = new ChatRouter(base, logsFolder, terminal, null);
  const printer = writer ?? { write: () => undefined };
  const terminalProgress = new TerminalProgress(base, printer, inTerminal, timings.progressEveryMs);
  const telegram = settings.telegram === null ? null : buildTelegram({ ...base, clocks }, settings, settings.telegram);
  const router = telegram === null ? inTerminal : new ChatRouter(base, logsFolder, terminal, telegram.chat);
  const delivery = new DeliveryService(base, router);
  const services: Service[] = telegram === null ? [delivery] : [delivery, telegram.chat];
  const endInChat = async (id: string, acceptedAt: number) => telegram?.memory.lastSent(id, acceptedAt) ?? null;
  const disk = { records, logsFolder, bootId: here.boot_id, logger, endInChat };
  return {
    router,
    delivery,
    services,
    progress: new ProgressRouter(telegram?.display ?? null, terminalProgress),
    telegram,
    accepted,
    clocks,
    endOnDisk: (session: AgentSession) => endOnDisk(disk, session),
  };
}

function buildTelegram(
  { clocks, ...chats }: ChatFoundation & { readonly accepted: AcceptedMessages; readonly clocks: AcceptanceClocks },
  { logsFolder, timings }: Settings,
  access: NonNullable<Settings['telegram']>,
) {
  const api = new TelegramApi(access, chats.clock);
  const ground = { ...chats, api, logsFolder };
  const numbers = new BotNumbers(ground);
  const base = { ...ground, numbers };
  const progress = new ProgressMemory(logsFolder, chats.logger);
  const display = new ProgressDisplay(base, new ProgressEdits(base), progress, timings.progressEveryMs, clocks);
  const memory = new SendMemory(base, logsFolder);
  return { api, numbers, display, memory, chat: new TelegramDelivery(base, display, memory, timings.drainMs) };
}
