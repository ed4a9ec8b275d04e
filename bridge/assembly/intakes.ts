/** Builds the intakes of messages: Telegram if there is a token, and the terminal if a person can type. */
import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import type { TerminalWatch } from '../../monitoring/terminals/terminalWatch.js';
import { homesOf, servedPlaces, servedProjects } from '../../src/config/servedPlaces.js';
import type { Store } from '../../src/jobs/store.js';
import type { Service } from '../../src/service.js';
import { LostHosts } from '../hosts/lostHosts.js';
import { MessageAcceptor } from '../intake/acceptMessage.js';
import { Admission } from '../intake/admission.js';
import { Commands } from '../intake/commands/commands.js';
import { BotWatch } from '../telegram/intake/botWatch.js';
import { TelegramIntake } from '../telegram/intake/intake.js';
import { PollerTurn } from '../telegram/intake/pollerTurn.js';
import { RejectedUpdates } from '../telegram/intake/rejectedUpdates.js';
import { TerminalIntake } from '../terminal/terminalIntake.js';
import type { ChatParts } from './chat.js';
import type { Foundation } from './foundation.js';
import type { Work } from './work.js';

export interface Terminal {
  write(text: string): void;
  /** Lines that a person types; null if there is no terminal for that. */
  readonly lines: AsyncIterable<string> | null;
}

export interface IntakeSurroundings {
  /** The intake's own. */
  readonly store: Store;
  readonly work: Work;
  readonly events: DurableEvents;
  readonly chat: ChatParts;
  readonly terminal: Terminal;
  readonly terminals: Pick<TerminalWatch, 'live'>;
}

export function buildIntakes(foundation: Foundation, surroundings: IntakeSurroundings) {
  const { store, work, events, chat, terminal, terminals } = surroundings;
  const { settings, clock, logger } = foundation;
  const { host, logsFolder, timings } = settings;
  const base = { ...foundation, store, events };
  const admission = new Admission(settings, base);
  const lostHosts = buildLostHosts(foundation, store);
  const isHostLost = (lost: string) => lostHosts.isLost(lost);
  const accept = chat.clocks.noting(chat.accepted.noting(work.lanes.acceptor(store, host)));
  const acceptor = new MessageAcceptor({ store, accept, settings, logger, isHostLost });
  const describeActivity = (sessionId: string) => chat.progress.describe(sessionId);
  const isMissing = (directory: string) => work.directories.isMissing(directory);
  const commands = new Commands(base, { describeActivity, isMissing, terminals });
  const rejected = new RejectedUpdates(base, logsFolder);
  const all: Service[] = [lostHosts];
  let telegram: TelegramIntake | null = null;
  if (chat.telegram !== null) {
    const { api, numbers } = chat.telegram;
    const reached = { ...base, api, numbers, logsFolder };
    const turn = new PollerTurn(reached, logsFolder, timings.watchdogLeaseMs);
    const watch = new BotWatch({ ...base, troubles: store.botTroubles }, api.botId);
    telegram = new TelegramIntake({ ...reached, admission, acceptor, commands, rejected, turn, watch });
    all.push(turn, telegram);
  }
  const [project] = servedProjects(settings.projects);
  if (terminal.lines !== null && project !== undefined) {
    const { lines } = terminal;
    all.push(new TerminalIntake({ lines, writer: terminal, project, acceptor, commands, clock, logger }));
  }
  return { all, telegram };
}

function buildLostHosts(foundation: Foundation, store: Store): LostHosts {
  const { settings } = foundation;
  const { host, timings } = settings;
  return new LostHosts({
    ...foundation,
    store,
    host,
    runLeaseMs: timings.runLeaseMs,
    get places() {
      return servedPlaces(settings);
    },
    get homes() {
      return homesOf(settings);
    },
  });
}
