/** The daily review on a schedule: whichever process has the acting watchdog writes it. */
import { Cron } from 'croner';
import { describeError } from '../../src/errors.js';
import type { Logger } from '../../src/logger.js';
import type { Service } from '../../src/service.js';
import type { Daydreamed } from './daydream.js';

export interface DaydreamScheduleContext {
  /** Five fields, UTC. */
  readonly cron: string;
  readonly logger: Logger;
  isActing(): boolean;
  run(): Promise<Daydreamed>;
}

export class DaydreamSchedule implements Service {
  readonly name = 'daydream';
  private readonly context: DaydreamScheduleContext;
  private cron: Cron | null = null;
  private running: Promise<unknown> = Promise.resolve();

  constructor(context: DaydreamScheduleContext) {
    this.context = context;
  }

  async start(): Promise<void> {
    if (this.cron !== null) return;
    this.cron = new Cron(this.context.cron, { timezone: 'UTC', protect: true }, async () => {
      await this.runOnce();
    });
  }

  async stop(): Promise<void> {
    this.cron?.stop();
    this.cron = null;
    await this.running;
  }

  /**
   * Never throws: what fails is logged, and nothing was acknowledged, so the next time reads it again.
   * @returns the days whose reviews were written; none where another process acts
   */
  async runOnce(): Promise<readonly string[]> {
    const work = this.write();
    this.running = work;
    return work;
  }

  private async write(): Promise<readonly string[]> {
    const { logger, isActing, run } = this.context;
    if (!isActing()) return [];
    try {
      const { reviews, notices } = await run();
      for (const notice of notices) logger.warn(`daydream: ${notice}`);
      const days = reviews.map(({ date }) => date);
      logger.info(days.length === 0 ? 'daydream: nothing new' : `daydream: wrote the review of ${days.join(', ')}`);
      return days;
    } catch (err) {
      logger.error(
        { err },
        `the daily review was not written and is tried again at its next time: ${describeError(err)}`,
      );
      return [];
    }
  }
}
