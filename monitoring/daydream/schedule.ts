/**
 * The daily review on a schedule: the process with the acting watchdog writes it. A file records the last scheduled time that
 * was handled. So a time that no process handled is made up for by the next one that acts, and a time that another process
 * handled is not repeated. If two processes handle one after all, around a takeover, they write the same.
 */
import { readFile } from 'node:fs/promises';
import { Cron } from 'croner';
import { z } from 'zod';
import { describeError } from '../../src/errors.js';
import { replaceBelowLogs } from '../../src/files/durableFile.js';
import type { Logger } from '../../src/log/logger.js';
import { Rounds } from '../../src/rounds.js';
import type { Service } from '../../src/service.js';
import { type Clock, isoTime, MINUTE } from '../../src/time.js';
import type { Daydreamed } from './daydream.js';
import type { DayZone } from './dayZone.js';

export interface DaydreamScheduleContext {
  /** A cron pattern in the zone's local time. */
  readonly cron: string;
  readonly zone: DayZone;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The file with the last scheduled time that was handled. */
  readonly recordPath: string;
  isActing(): boolean;
  run(): Promise<Daydreamed>;
}

/** A takeover, a host that slept and a clock that was set are noticed within this time. */
const LOOK_AGAIN_MS = MINUTE;
const RETRY_MS = 10 * MINUTE;
const RECORD = z.looseObject({ served: z.iso.datetime() });

export class DaydreamSchedule implements Service {
  readonly name = 'daydream';
  readonly #context: DaydreamScheduleContext;
  readonly #pattern: Cron;
  readonly #rounds: Rounds;
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(context: DaydreamScheduleContext) {
    this.#context = context;
    this.#pattern = new Cron(context.cron, { paused: true, timezone: context.zone.name });
    this.#rounds = new Rounds(
      context.clock,
      () => this.runIfDue(),
      () => this.#pauseMs(),
    );
  }

  async start(): Promise<void> {
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  /**
   * Writes the review if a scheduled time has come that nobody has handled. Never throws: a failure is logged and retried in
   * ten minutes, and nothing is acknowledged until then.
   * @returns the days whose reviews were written; none if nothing is due, or another process acts
   */
  async runIfDue(): Promise<readonly string[]> {
    const { clock, logger, isActing, run } = this.#context;
    const due = this.#lastTime();
    if (due === null || !isActing() || clock.monotonic() < this.#retryAt || (await this.#served()) >= due) return [];
    try {
      const { reviews, notices } = await run();
      for (const notice of notices) logger.warn(`daydream: ${notice}`);
      await this.#recordServed(due);
      const days = reviews.map(({ date }) => date);
      logger.info(days.length === 0 ? 'daydream: nothing new' : `daydream: wrote the review of ${days.join(', ')}`);
      return days;
    } catch (err) {
      this.#retryAt = clock.monotonic() + RETRY_MS;
      logger.error({ err }, `the daily review was not written and is tried again in 10 minutes: ${describeError(err)}`);
      return [];
    }
  }

  #pauseMs(): number {
    const now = this.#context.clock.now();
    const next = this.#pattern.nextRun(new Date(now))?.getTime() ?? Number.POSITIVE_INFINITY;
    return Math.min(LOOK_AGAIN_MS, Math.max(0, next - now));
  }

  /** @returns the last scheduled time that has come, epoch milliseconds */
  #lastTime(): number | null {
    // The search excludes the instant it is given.
    const now = new Date(this.#context.clock.now() + 1);
    return this.#pattern.previousRuns(1, now)[0]?.getTime() ?? null;
  }

  /** A record that is missing, damaged or from the future counts as none: then the review is written, which does no harm. */
  async #served(): Promise<number> {
    const { recordPath, clock } = this.#context;
    try {
      const served = Date.parse(RECORD.parse(JSON.parse(await readFile(recordPath, 'utf8'))).served);
      return served > clock.now() ? Number.NEGATIVE_INFINITY : served;
    } catch {
      return Number.NEGATIVE_INFINITY;
    }
  }

  async #recordServed(due: number): Promise<void> {
    const { recordPath, clock } = this.#context;
    const record = { v: 1, served: isoTime(due), done_at: isoTime(clock.now()) };
    await replaceBelowLogs(recordPath, `${JSON.stringify(record)}\n`);
  }
}
