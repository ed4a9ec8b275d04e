/** What every process of Watchkeeper stands on: log, Redis, store, events. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Redis } from 'ioredis';
import { CriticalEventLog } from '../../monitoring/criticalEvents.js';
import type { Settings } from '../../src/config/settings.js';
import { describeError, UnreachableError, UsageError } from '../../src/errors.js';
import { errorCode } from '../../src/host/errno.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { fileDestination, type TerminalStream, terminalDestination } from '../../src/logDestinations.js';
import { createLogger, type LogDestination, type Logger, type LogLevel } from '../../src/logger.js';
import type { ProcessIdentity } from '../../src/model.js';
import { createRedactor, type Redact } from '../../src/redact.js';
import { type ConnectionPurpose, closeRedis, connectOrExplain, openRedis } from '../../src/store/connect.js';
import { openStore, type Store } from '../../src/store/store.js';
import { type Clock, SECOND, systemClock } from '../../src/time.js';
import { findEmbeddedRedis } from '../redis/endpoint.js';

export interface Foundation {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: Redact;
  readonly here: ProcessIdentity;
  readonly events: CriticalEventLog;
}

/**
 * @param logFile its name in the logs folder; null writes to the terminal alone
 * @throws UsageError where there is a log file and the folder cannot be made
 */
export function layFoundation(settings: Settings, logStream: TerminalStream, logFile: string | null): Foundation {
  if (logFile !== null) makeFolder(settings.logsFolder);
  const redact = createRedactor(settings.secrets);
  const destinations: LogDestination[] = [terminalDestination(logStream)];
  if (logFile !== null) destinations.push(fileDestination(join(settings.logsFolder, logFile)));
  return {
    settings,
    clock: systemClock,
    redact,
    logger: createLogger({ level: settings.logLevel as LogLevel, redact, clock: systemClock, destinations }),
    here: readProcessIdentity(settings.host),
    events: new CriticalEventLog(eventsFileOf(settings), redact),
  };
}

/** Step by step: Node's own recursion never ends where a file system refuses every new folder, as `/proc` does. */
function makeFolder(path: string): void {
  try {
    const missing: string[] = [];
    for (let at = path; !existsSync(at); at = dirname(at)) missing.push(at);
    for (const folder of missing.reverse()) makeOne(folder);
    accessSync(path, constants.W_OK | constants.X_OK);
    if (!statSync(path).isDirectory()) throw new Error('it is not a directory');
  } catch (cause) {
    throw new UsageError(`WATCHKEEPER_LOGS: ${path} cannot be the folder of the logs: ${describeError(cause)}`, {
      cause,
    });
  }
}

/** Another process may be faster. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
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

const FIRST_PAUSE_MS = SECOND;
const LONGEST_PAUSE_MS = 30 * SECOND;

/** The connections of one process, closed together. */
export class Connections {
  private readonly findUrl: () => string;
  private readonly logger: Logger;
  private readonly opened: Redis[] = [];

  /** @param findUrl asked anew for each connection: a bridge that brings its own Redis may start later */
  constructor(findUrl: () => string, logger: Logger) {
    this.findUrl = findUrl;
    this.logger = logger;
  }

  /**
   * For who serves: a Redis that is away at the start is waited for, as one that goes away later is.
   * @throws UnreachableError where `stopping` aborts first
   * @throws UsageError where the server will not do
   */
  async waitUntilReachable(clock: Clock, stopping: AbortSignal): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        closeRedis(await this.open('commands'));
        return;
      } catch (error) {
        if (!(error instanceof UnreachableError) || stopping.aborted) throw error;
        this.logger.warn(`waiting for Redis: ${error.message}`);
        await clock.sleep(pauseMs, stopping);
      }
    }
  }

  /**
   * @throws UnreachableError where nobody answers
   * @throws UsageError where the server will not do
   */
  async open(purpose: ConnectionPurpose): Promise<Redis> {
    const url = this.findUrl();
    const redis = openRedis(url, {
      purpose,
      clock: systemClock,
      onNews: ({ kind, words }) => (kind === 'away' ? this.logger.warn(words) : this.logger.info(words)),
    });
    await connectOrExplain(redis, url);
    this.opened.push(redis);
    return redis;
  }

  closeAll(): void {
    for (const redis of this.opened.splice(0)) closeRedis(redis);
  }
}

/**
 * For commands that only look or ask: a store for as long as `work` takes.
 * @throws UnreachableError where there is no Redis to be found
 */
export async function withStore<T>(
  settings: Settings,
  work: (parts: { store: Store; foundation: Foundation }) => Promise<T>,
): Promise<T> {
  const quiet: TerminalStream = { write: () => true, on: () => undefined };
  const foundation = layFoundation(settings, quiet, null);
  const connections = new Connections(() => redisUrlOf(settings), foundation.logger);
  try {
    return await work({ store: openStore(await connections.open('commands'), systemClock), foundation });
  } finally {
    connections.closeAll();
  }
}

/**
 * @returns where the store is: as configured, else the server that a bridge on this logs folder has brought
 * @throws UnreachableError where there is neither
 */
export function redisUrlOf(settings: Settings): string {
  return settings.redisUrl ?? findEmbeddedRedis(settings.logsFolder).url;
}
