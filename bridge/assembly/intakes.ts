/** Builds the intakes of messages: Telegram if there is a token, and the terminal if a person can type. */
import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import { homesOf, servedPlaces } from '../../src/config/servedPlaces.js';
import { ulid } from '../../src/ids.js';
import type { Store } from '../../src/jobs/store.js';
import type { Service } from '../../src/service.js';
import { isoTime } from '../../src/time.js';
import { LostHosts } from '../hosts/lostHosts.js';
import { MessageAcceptor } from '../intake/acceptMessage.js';
import { Admission, type ChatMessage } from '../intake/admission.js';
import { Commands } from '../intake/commands.js';
import type { LaneStarter } from '../queue/laneStarter.js';
import { TelegramIntake } from '../telegram/intake.js';
import { PollerTurn } from '../telegram/pollerTurn.js';
import { RejectedUpdates } from '../telegram/rejectedUpdates.js';
import { TerminalIntake } from '../terminal/terminalIntake.js';
import type { ChatParts } from './chat.js';
import type { Foundation } from './foundation.js';

export interface Terminal {
  write(text: string): void;
  /** Lines that a person types; null if nobody can. */
  readonly lines: AsyncIterable<string> | null;
}

export interface Intakes {
  readonly all: readonly Service[];
  /** Null without a bot token. */
  readonly telegram: TelegramIntake | null;
}

export interface IntakeSurroundings {
  readonly lanes: LaneStarter;
  readonly events: DurableEvents;
  readonly chat: ChatParts;
  readonly terminal: Terminal;
  /** Whether a directory was missing recently. */
  readonly isMissing: (directory: string) => boolean;
}

export function buildIntakes(
  foundation: Foundation,
  store: Store,
  { lanes, events, chat, terminal, isMissing }: IntakeSurroundings,
): Intakes {
  const { settings, clock, logger, redact } = foundation;
  const admission = new Admission(settings, clock, (message) => logUnroutable(foundation, events, message));
  const lostHosts = lostHostsOf(foundation, store);
  const isHostLost = (host: string) => lostHosts.isLost(host);
  const accept = lanes.acceptor(store, settings.host);
  const acceptor = new MessageAcceptor({ store, accept, settings, logger, isHostLost });
  const describeActivity = (sessionId: string) => chat.progress.describe(sessionId);
  const commands = new Commands({ store, clock, redact, describeActivity, isMissing });
  const rejected = new RejectedUpdates(settings.logsFolder, redact, clock, logger);
  const all: Service[] = [lostHosts];
  let telegram: TelegramIntake | null = null;
  if (chat.telegram !== null) {
    const { api } = chat.telegram;
    const turn = pollerTurn(foundation, store, api.botId);
    telegram = new TelegramIntake({ store, api, clock, logger, admission, acceptor, commands, rejected, turn });
    all.push(turn, telegram);
  }
  const [project] = [...settings.projects.values()].filter(({ isServedHere }) => isServedHere);
  if (terminal.lines !== null && project !== undefined) {
    const { lines } = terminal;
    all.push(new TerminalIntake({ lines, writer: terminal, project, acceptor, commands, clock, logger }));
  }
  return { all, telegram };
}

function lostHostsOf({ settings, clock, logger }: Foundation, store: Store): LostHosts {
  const { host, timings } = settings;
  const { runLeaseMs } = timings;
  return new LostHosts({
    store,
    clock,
    logger,
    host,
    runLeaseMs,
    get places() {
      return servedPlaces(settings);
    },
    get homes() {
      return homesOf(settings);
    },
  });
}

function pollerTurn({ settings, clock, logger, here }: Foundation, { leases }: Store, botId: string): PollerTurn {
  const { logsFolder, timings } = settings;
  return new PollerTurn({ leases, clock, logger, here, logsFolder, botId, leaseMs: timings.watchdogLeaseMs });
}

function logUnroutable({ clock, logger }: Foundation, events: DurableEvents, message: ChatMessage): void {
  const id = ulid(clock);
  const event = {
    v: 1,
    id: `${id}.detected`,
    incident_id: id,
    final: true,
    timestamp: isoTime(clock.now()),
    event: 'message_unroutable',
    session_id: null,
    project_key: null,
    reason: 'chat_not_listed',
    rule: null,
    action_taken: 'detected',
    github_issue: null,
    details: { chat_id: message.chatId, thread_id: message.threadId, message_id: message.messageId },
    untrusted_excerpt: message.text,
  } as const;
  events
    .logCriticalEvent(event)
    .catch((err: unknown) => logger.error({ err, event }, 'a critical event was not written'));
}
