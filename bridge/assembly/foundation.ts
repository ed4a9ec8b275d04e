/** The basis of every Watchkeeper process: log, Redis, store, events. */
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CriticalEventLog } from '../../monitoring/criticalEvents.js';
import { DurableEvents } from '../../monitoring/events/durableEvents.js';
import type { Settings } from '../../src/config/settings.js';
import { errorCode } from '../../src/errno.js';
import { describeError, UsageError } from '../../src/errors.js';
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import { findLink, linkWords, PRIVATE_FOLDER, SHARED_BITS } from '../../src/files/privateFiles.js';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import type { Store } from '../../src/jobs/store.js';
import { fileDestination, type TerminalStream, terminalDestination } from '../../src/log/logDestinations.js';
import { createLogger, type LogDestination, type Logger, type LogLevel } from '../../src/log/logger.js';
import { createRedactor, type Redact } from '../../src/log/redact.js';
import { type Clock, systemClock } from '../../src/time.js';
import { RedisOutage } from './redisOutage.js';

/** Rotated ones beside the log itself. */
const LOGS_KEPT = 5;

export interface Foundation {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: Redact;
  readonly here: ProcessIdentity;
  readonly outage: RedisOutage;
}

/**
 * @param logFile its name in the logs folder; null writes to the terminal alone
 * @throws UsageError if there is a log file and the folder cannot be created, or was never writable
 */
export function layFoundation(settings: Settings, logStream: TerminalStream, logFile: string | null): Foundation {
  const refused = logFile === null ? null : makeFolder(settings.logsFolder);
  if (logFile !== null) refuseLinks(settings.logsFolder);
  const redact = createRedactor(settings.secrets);
  const destinations: LogDestination[] = [terminalDestination(logStream)];
  if (logFile !== null)
    destinations.push(
      fileDestination(join(settings.logsFolder, logFile), { maxBytes: settings.retention.logBytes, keep: LOGS_KEPT }),
    );
  const clock = systemClock;
  const outage = new RedisOutage(clock, () => logger);
  const isToldElsewhere = (error: unknown) => outage.covers(error);
  const level = settings.logLevel as LogLevel;
  const logger = createLogger({ level, redact, clock, destinations, isToldElsewhere });
  if (refused !== null)
    logger.error(`${refused}; messages are run all the same, and critical events wait in the store`);
  return {
    settings,
    clock,
    redact,
    logger,
    outage,
    here: readProcessIdentity(settings.host),
  };
}

/** @returns the critical events of the process, kept in the store while their file accepts none */
export function buildEvents({ settings, redact, clock, logger }: Foundation, store: Store): DurableEvents {
  const { logsFolder } = settings;
  const file = new CriticalEventLog(eventsFileOf(settings), redact);
  return new DurableEvents({ file, owed: store.owedEvents, logsFolder, redact, clock, logger });
}

/**
 * Step by step: Node's own recursion never ends if a file system refuses every new folder, as `/proc` does.
 * @returns why a folder that has been in use is not writable now, which is no reason to leave messages unanswered; else null
 */
function makeFolder(path: string): string | null {
  try {
    const missing: string[] = [];
    for (let at = path; !existsSync(at); at = dirname(at)) missing.push(at);
    for (const folder of missing.reverse()) makeOne(folder);
    if (!wasInUse(path)) makePrivate(path);
    accessSync(path, constants.W_OK | constants.X_OK);
    if (!statSync(path).isDirectory()) throw new Error('it is not a directory');
    return null;
  } catch (cause) {
    if (wasInUse(path)) return `WATCHKEEPER_LOGS: ${path} cannot be written: ${describeError(cause)}`;
    throw new UsageError(`WATCHKEEPER_LOGS: ${path} cannot be the folder of the logs: ${describeError(cause)}`, {
      cause,
    });
  }
}

function wasInUse(path: string): boolean {
  try {
    return readLogsFolderId(path) !== null;
  } catch {
    return false;
  }
}

/** Only before its first use: later, wider permissions may be the owner's intention, and `doctor` reports them. */
function makePrivate(folder: string): void {
  const { mode, uid } = statSync(folder);
  if (uid === process.getuid?.() && (mode & SHARED_BITS) !== 0) chmodSync(folder, PRIVATE_FOLDER);
}

/** @throws UsageError if a link has replaced something that is written there */
function refuseLinks(logsFolder: string): void {
  const link = findLink(logsFolder);
  if (link !== null) throw new UsageError(`WATCHKEEPER_LOGS: ${linkWords(link)}`);
}

/** Another process may be faster. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder, PRIVATE_FOLDER);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** @returns the path of the live file of critical events */
export function eventsFileOf({ logsFolder }: Settings): string {
  return join(logsFolder, 'critical_events.jsonl');
}

/** @returns where the daily reviews are */
export function reviewsFolderOf({ logsFolder }: Settings): string {
  return join(logsFolder, 'daydream');
}
