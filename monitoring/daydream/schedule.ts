/**
 * The daily review on a schedule: the process with the acting watchdog writes it. A file records the last scheduled time that
 * was handled. So a time that no process handled is made up for by the next one that acts, and a time that another process
 * handled is not repeated. If two processes handle one after all, around a takeover, they write the same.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cron } from 'croner';
import * as z from 'zod';
import { describeError } from '../../src/errors.js';
import { replaceBelowLogs } from '../../src/files/durableFile.js';
import { parseJson } from '../../src/json.js';
import type { Logger } from '../../src/log/logger.js';
import { Rounds } from '../../src/rounds.js';
import type { Service } from '../../src/service.js';
import { isoTime, MINUTE } from '../../src/time.js';
import type { DailyReview } from './daydream.js';

/** A takeover, a host that slept and a clock that was set are noticed within this time. */
const LOOK_AGAIN_MS = MINUTE;
const RETRY_MS = 10 * MINUTE;
const RECORD = z.looseObject({ served: z.iso.datetime() });

export class DaydreamSchedule implements Service {
  readonly name = 'daydream';
  readonly #review: DailyReview;
  readonly #lease: { readonly isActing: boolean };
  readonly #logger: Logger;
  readonly #pattern: Cron;
  readonly #rounds: Rounds;
  #retryAt = Number.NEGATIVE_INFINITY;

  /** @param cron in the review's zone @param lease whether this process's watchdog is the acting one */
  constructor(cron: string, review: DailyReview, lease: { readonly isActing: boolean }, logger: Logger) {
    this.#review = review;
    this.#lease = lease;
    this.#logger = logger;
    this.#pattern = new Cron(cron, { paused: true, timezone: review.zone.name });
    this.#rounds = new Rounds(
      review.clock,
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

  /** Never throws: a failure is logged and retried in ten minutes, and nothing is acknowledged until then. */
  async runIfDue(): Promise<void> {
    const { clock } = this.#review;
    const due = this.#lastTime();
    if (due === null || !this.#lease.isActing || clock.monotonic() < this.#retryAt) return;
    if ((await this.#served()) >= due) return;
    try {
      const { reviews, notices } = await this.#review.write();
      for (const notice of notices) this.#logger.warn(`daydream: ${notice}`);
      const record = { v: 1, served: isoTime(due), done_at: isoTime(clock.now()) };
      await replaceBelowLogs(this.#recordPath, `${JSON.stringify(record)}\n`);
      const days = reviews.map(({ date }) => date).join(', ');
      this.#logger.info(days === '' ? 'daydream: nothing new' : `daydream: wrote the review of ${days}`);
    } catch (err) {
      this.#retryAt = clock.monotonic() + RETRY_MS;
      this.#logger.error(
        { err },
        `the daily review was not written and is tried again in 10 minutes: ${describeError(err)}`,
      );
    }
  }

  #pauseMs(): number {
    const now = this.#review.clock.now();
    const next = this.#pattern.nextRun(new Date(now))?.getTime() ?? Number.POSITIVE_INFINITY;
    return Math.min(LOOK_AGAIN_MS, Math.max(0, next - now));
  }

  /** @returns the last scheduled time that has come, epoch milliseconds */
  #lastTime(): number | null {
    // The search excludes the instant it is given.
    const now = new Date(this.#review.clock.now() + 1);
    return this.#pattern.previousRuns(1, now)[0]?.getTime() ?? null;
  }

  /** A record that is missing, damaged or from the future counts as none: then the review is written, which does no harm. */
  async #served(): Promise<number> {
    const { data } = RECORD.safeParse(parseJson(await readFile(this.#recordPath, 'utf8').catch(() => '')));
    const served = Date.parse(data?.served ?? '');
    return served <= this.#review.clock.now() ? served : Number.NEGATIVE_INFINITY;
  }

  get #recordPath(): string {
    return join(this.#review.folder, 'schedule.json');
  }
}
