/**
 * Keeps the files of the logs folder, besides journals, within their bounds: the acting watchdog archives old critical events, and
 * removes archived ones, daily reviews and completed issues that are older still. It runs once a day; `retention.json` holds
 * the time of the last round, so that a restart does not repeat it. It keeps all that may still be needed: events that a consumer
 * has not acknowledged, the newest archived file (a consumer may be in it), open issues, and those that a person closed as not
 * planned.
 */
import { lstat, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Retention } from '../../src/config/settings.js';
import { describeError, FencedError, nullIfAbsent } from '../../src/errors.js';
import { replaceDurably } from '../../src/files/durableFile.js';
import { parseObject } from '../../src/json.js';
import type { Logger } from '../../src/log/logger.js';
import { type Clock, DAY, HOUR, isoTime } from '../../src/time.js';
import { archiveEvents } from '../events/archive.js';
import { archivedFiles } from '../events/pieces.js';
import { LocalIssues } from '../incident/issue/localIssues.js';

const ROUND_EVERY_MS = DAY;
/** After a round that could not do everything. */
const AGAIN_AFTER_MS = HOUR;
const RECORD = 'retention.json';
const PAGE = /^(\d{4}-\d\d-\d\d)\.md$/;
/** Per round; the next one continues. */
const MOST_ISSUES = 500;

export interface RetentionContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logsFolder: string;
  readonly retention: Retention;
  /** Throws FencedError if another watchdog acts now. */
  requireActing(): Promise<void>;
}

export class RetentionRound {
  readonly #context: RetentionContext;
  #dueAt: number | null = null;

  constructor(context: RetentionContext) {
    this.#context = context;
  }

  async runIfDue(): Promise<void> {
    const { clock, logger } = this.#context;
    try {
      this.#dueAt ??= await this.#recordedDue();
      if (clock.now() < this.#dueAt) return;
      this.#dueAt = clock.now() + AGAIN_AFTER_MS;
      const { cleared, troubles } = await this.runOnce();
      for (const trouble of troubles) logger.warn(`retention: ${trouble}`);
      if (troubles.length === 0) await this.#recordDone(cleared);
      if (Object.values(cleared).some((count) => count > 0)) logger.info(cleared, 'retention: old files were removed');
    } catch (err) {
      if (!(err instanceof FencedError))
        logger.warn({ err }, `retention: will be tried again in an hour: ${describeError(err)}`);
    }
  }

  /** @returns how many of each went, and a sentence for each part that failed @throws FencedError if another watchdog acts */
  async runOnce() {
    await this.#context.requireActing();
    const troubles: string[] = [];
    const failed = (error: unknown) => {
      troubles.push(describeError(error));
      return 0;
    };
    const cleared = {
      archivedEvents: await this.#archiveEvents().catch(failed),
      archives: await this.#removeArchives().catch(failed),
      issues: await this.#removeIssues().catch(failed),
      reviews: await this.#removeReviews().catch(failed),
      rotatedLogs: await this.#rotateRejected().catch(failed),
    };
    return { cleared, troubles };
  }

  async #archiveEvents(): Promise<number> {
    const { clock, retention, logger } = this.#context;
    const before = clock.now() - retention.keptMs;
    const { events, unacknowledged } = await archiveEvents(this.#eventsFile, { clock, before, needsNoConsumer: true });
    const said = 'retention: old critical events stay until every consumer in consumers/ has acknowledged them';
    if (unacknowledged > 0) logger.info({ unacknowledged }, said);
    return events;
  }

  /** Oldest first: those beyond the age limit, then those beyond the byte limit. The newest is kept. */
  async #removeArchives(): Promise<number> {
    const { clock, retention } = this.#context;
    const files = [];
    for (const { path } of await archivedFiles(this.#eventsFile)) files.push({ path, stat: await lstat(path) });
    let bytes = files.reduce((sum, { stat }) => sum + stat.size, 0);
    let removed = 0;
    for (const { path, stat } of files.slice(0, -1)) {
      const isOld = stat.mtimeMs < clock.now() - retention.archiveMs;
      // A gap in the sequence would separate a reader from its place.
      if (!isOld && bytes <= retention.archiveBytes) break;
      await rm(path);
      bytes -= stat.size;
      removed += 1;
    }
    return removed;
  }

  /** The highest number is kept, or it would be assigned again. */
  async #removeIssues(): Promise<number> {
    const { clock, retention, logsFolder } = this.#context;
    const folder = join(logsFolder, 'issues');
    const [, ...others] = await new LocalIssues(folder, clock).list();
    const before = clock.now() - retention.archiveMs;
    const old = others.filter(({ closedAs, closedAt }) => closedAs === 'completed' && (closedAt ?? before) < before);
    const gone = old.slice(-MOST_ISSUES);
    for (const { number } of gone)
      for (const name of [`${number}.comments.md`, `${number}.md`]) await rm(join(folder, name), { force: true });
    return gone.length;
  }

  async #removeReviews(): Promise<number> {
    const { clock, retention, logsFolder } = this.#context;
    const folder = join(logsFolder, 'daydream');
    const before = isoTime(clock.now() - retention.archiveMs).slice(0, 'YYYY-MM-DD'.length);
    const old = (await namesIn(folder)).filter((name) => (PAGE.exec(name)?.[1] ?? before) < before);
    for (const name of old) await rm(join(folder, name));
    return old.length;
  }

  /** Each update is appended by file name, so the next one begins a new file. */
  async #rotateRejected(): Promise<number> {
    const { logsFolder, retention } = this.#context;
    const path = join(logsFolder, 'rejected_updates.jsonl');
    const found = await lstat(path).catch(nullIfAbsent);
    if (found === null || found.size <= retention.logBytes) return 0;
    await rename(path, `${path}.1`);
    return 1;
  }

  get #eventsFile(): string {
    return join(this.#context.logsFolder, 'critical_events.jsonl');
  }

  /** A record that cannot be read, or is too far ahead because the clock was set, is due now. */
  async #recordedDue(): Promise<number> {
    const due = (await readRetentionRecord(this.#context.logsFolder))?.nextAt ?? Number.NEGATIVE_INFINITY;
    return due > this.#context.clock.now() + ROUND_EVERY_MS ? Number.NEGATIVE_INFINITY : due;
  }

  async #recordDone(cleared: Readonly<Record<string, number>>): Promise<void> {
    const { clock, logsFolder } = this.#context;
    const now = clock.now();
    this.#dueAt = now + ROUND_EVERY_MS;
    const record = { v: 1, done_at: isoTime(now), next_at: isoTime(this.#dueAt), cleared };
    await replaceDurably(join(logsFolder, RECORD), `${JSON.stringify(record)}\n`);
  }
}

/** @returns when retention ran last and runs next, epoch milliseconds; null if unknown */
export async function readRetentionRecord(logsFolder: string): Promise<{ doneAt: number; nextAt: number } | null> {
  const text = await readFile(join(logsFolder, RECORD), 'utf8').catch(() => '');
  const record = parseObject<{ done_at: unknown; next_at: unknown }>(text);
  const [doneAt, nextAt] = [Date.parse(String(record?.done_at)), Date.parse(String(record?.next_at))];
  return Number.isNaN(doneAt) || Number.isNaN(nextAt) ? null : { doneAt, nextAt };
}

/** A folder that is a link is left alone. */
async function namesIn(folder: string): Promise<string[]> {
  const found = await lstat(folder).catch(nullIfAbsent);
  return found?.isDirectory() ? readdir(folder) : [];
}
