/** The basis of every Watchkeeper process: settings, log, events. */
import { join } from 'node:path';
import { BridgeWorklogs } from '../../memory/sessions/bridgeWorklogs.js';
import { CriticalEventLog } from '../../monitoring/criticalEvents.js';
import { DurableEvents } from '../../monitoring/events/durableEvents.js';
import type { Settings } from '../../src/config/settings.js';
import { prepareLogsFolder } from '../../src/files/logsFolder.js';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import type { Store } from '../../src/jobs/store.js';
import { LogFile, type TerminalStream, terminalDestination } from '../../src/log/logDestinations.js';
import { createLogger, type Logger, type LogLevel } from '../../src/log/logger.js';
import { createRedactor, type Redact } from '../../src/log/redact.js';
import { type Clock, systemClock } from '../../src/time.js';
import { EnqueuedHandoffs } from '../handoffs/handoffs.js';
import { RedisOutage } from '../redis/redisOutage.js';

/** Rotated ones besides the log itself. */
const LOGS_KEPT = 5;

export interface Foundation {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: Redact;
  readonly worklogs: BridgeWorklogs;
  readonly handoffs: EnqueuedHandoffs;
  readonly here: ProcessIdentity;
  readonly outage: RedisOutage;
  /** Where log lines go besides {@link logPath}. */
  readonly logStream: TerminalStream;
  /** Null if log lines go to the stream alone. */
  readonly logPath: string | null;
}

/** @param logFile null writes to the terminal alone @throws UsageError if it cannot be created, or was never writable */
export function layFoundation(settings: Settings, logStream: TerminalStream, logFile: string | null): Foundation {
  const { logsFolder, retention } = settings;
  const refused = logFile === null ? null : prepareLogsFolder(logsFolder);
  const limits = { maxBytes: retention.logBytes, keep: LOGS_KEPT };
  const logPath = logFile === null ? null : join(logsFolder, logFile);
  const inFolder = logPath === null ? [] : [new LogFile(logPath, limits)];
  const destinations = [terminalDestination(logStream), ...inFolder];
  const clock = systemClock;
  const redact = createRedactor(settings.secrets);
  const outage = new RedisOutage(clock, () => logger);
  const isReportedElsewhere = (error: unknown) => outage.covers(error);
  const level = settings.logLevel as LogLevel;
  const logger = createLogger({ level, redact, clock, destinations, isReportedElsewhere });
  if (refused !== null)
    logger.error(`${refused}; messages are run all the same, and critical events wait in the store`);
  const worklogs = new BridgeWorklogs(logsFolder, { clock, redact });
  const handoffs = new EnqueuedHandoffs({ clock, logger, redact, variables: settings.agentEnvironment });
  const here = readProcessIdentity(settings.host);
  return { settings, clock, redact, worklogs, handoffs, logger, outage, here, logStream, logPath };
}

/** @returns the critical events of the process, kept in the store while their file accepts none */
export function buildEvents({ settings, redact, clock, logger }: Foundation, store: Store): DurableEvents {
  const { logsFolder } = settings;
  const file = new CriticalEventLog(eventsFileOf(settings), redact);
  return new DurableEvents({ file, owed: store.owedEvents, logsFolder, redact, clock, logger });
}

export function eventsFileOf({ logsFolder }: Settings): string {
  return join(logsFolder, 'critical_events.jsonl');
}

export function reviewsFolderOf({ logsFolder }: Settings): string {
  return join(logsFolder, 'daydream');
}
