/** What every process of Watchkeeper stands on: log, Redis, store, events. */
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Redis } from 'ioredis';
import { CriticalEventLog } from '../../monitoring/criticalEvents.js';
import { DurableEvents } from '../../monitoring/events/durableEvents.js';
import type { Settings } from '../../src/config/settings.js';
import { errorCode } from '../../src/errno.js';
import { describeError, UnreachableError, UsageError } from '../../src/errors.js';
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import { findLink, linkWords, PRIVATE_FOLDER, SHARED_BITS } from '../../src/files/privateFiles.js';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import { requireReadable } from '../../src/jobs/schema.js';
import { openStore, type Store } from '../../src/jobs/store.js';
import { fileDestination, type TerminalStream, terminalDestination } from '../../src/log/logDestinations.js';
import { createLogger, type LogDestination, type Logger, type LogLevel } from '../../src/log/logger.js';
import { createRedactor, type Redact } from '../../src/log/redact.js';
import {
  type ConnectionNews,
  type ConnectionPurpose,
  closeRedis,
  connectOrExplain,
  openRedis,
  redactUrl,
} from '../../src/redis/connect.js';
import { atMost, type Clock, SECOND, systemClock } from '../../src/time.js';
import { findEmbeddedRedis } from '../redis/endpoint.js';
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
 * @throws UsageError where there is a log file and the folder cannot be made, or never took anything
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

/** @returns the critical events of the process, kept in the store while their file takes none */
export function buildEvents({ settings, redact, clock, logger }: Foundation, store: Store): DurableEvents {
  const { logsFolder } = settings;
  const file = new CriticalEventLog(eventsFileOf(settings), redact);
  return new DurableEvents({ file, owed: store.owedEvents, logsFolder, redact, clock, logger });
}

/**
 * Step by step: Node's own recursion never ends where a file system refuses every new folder, as `/proc` does.
 * @returns why a folder that has been in use takes nothing now, which is no reason to leave messages unanswered; else null
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

/** Before its first use: later its owner may have meant something by it, and `doctor` says that it is wider. */
function makePrivate(folder: string): void {
  const { mode, uid } = statSync(folder);
  if (uid === process.getuid?.() && (mode & SHARED_BITS) !== 0) chmodSync(folder, PRIVATE_FOLDER);
}

/** @throws UsageError where a link has taken the place of something that is written there */
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

const FIRST_PAUSE_MS = SECOND;
const LONGEST_PAUSE_MS = 30 * SECOND;
/** Longer than it takes to find out that nobody answers. A server that loads a large file answers, and only that. */
const READY_WITHIN_MS = 30 * SECOND;

/** The connections of one process, closed together. */
export class Connections {
  private readonly findUrl: () => string;
  private readonly foundation: Pick<Foundation, 'outage' | 'clock'>;
  private readonly stopping: AbortSignal | null;
  private readonly opened: Redis[] = [];

  /**
   * @param findUrl asked anew for each connection: a bridge that brings its own Redis may start later
   * @param stopping for who serves: a Redis that is away at the start is waited for until this aborts, as one that goes away
   *   later is; null waits for nothing
   */
  constructor(
    findUrl: () => string,
    foundation: Pick<Foundation, 'outage' | 'clock'>,
    stopping: AbortSignal | null = null,
  ) {
    this.findUrl = findUrl;
    this.foundation = foundation;
    this.stopping = stopping;
  }

  /**
   * @throws UnreachableError where nobody answers and nobody waits, or waits any longer
   * @throws UsageError where the server will not do
   */
  async open(purpose: ConnectionPurpose): Promise<Redis> {
    const { outage, clock } = this.foundation;
    const { stopping } = this;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        const redis = await this.connect(purpose);
        outage.back(this, this.address());
        return redis;
      } catch (error) {
        if (!(error instanceof UnreachableError) || stopping === null || stopping.aborted) throw error;
        outage.away(this, this.address(), `waiting for Redis: ${error.message}`);
        await clock.sleep(pauseMs, stopping);
      }
    }
  }

  private async connect(purpose: ConnectionPurpose): Promise<Redis> {
    const url = this.findUrl();
    const { outage, clock } = this.foundation;
    const where = redactUrl(url);
    const connection = { isUp: false };
    // One that never came up is its opener's business.
    const onNews = ({ kind, words }: ConnectionNews) => {
      if (connection.isUp && kind === 'away') outage.away(connection, where, words);
      if (kind === 'back') outage.back(connection, where);
    };
    const redis = openRedis(url, { purpose, clock, onNews });
    const isUp = await atMost(
      clock,
      READY_WITHIN_MS,
      connectOrExplain(redis, url).then(() => true),
      false,
    );
    if (!isUp) {
      closeRedis(redis);
      throw new UnreachableError(
        `the Redis at ${where} takes connections and is not ready; it may still read its data`,
      );
    }
    connection.isUp = true;
    this.opened.push(redis);
    return redis;
  }

  /** Where a bridge brings the server, nobody knows its address before. */
  private address(): string {
    try {
      return redactUrl(this.findUrl());
    } catch {
      return 'an address that is not known yet';
    }
  }

  closeAll(): void {
    this.foundation.outage.stop();
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
  const connections = new Connections(() => redisUrlOf(settings), foundation);
  try {
    const store = openStore(await connections.open('commands'), systemClock);
    await requireReadable(store.redis, store.keys);
    return await work({ store, foundation });
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
