/** Records the bridge's starts, and reports when they follow each other quickly: something keeps ending it. */
import { noticeEvent } from '../../monitoring/events/notice.js';
import { counted } from '../../src/counted.js';
import { MOST_QUICK_STARTS, QUICK_MS, startedAt } from '../../src/jobs/bridgeStarts.js';
import type { Service } from '../../src/service.js';
import { describeDuration, isoTime } from '../../src/time.js';
import type { ChatFoundation } from '../chat/foundation.js';
import type { NotedStarts } from './notedStarts.js';

export class RestartWatch implements Service {
  readonly name = 'starts of the bridge';
  readonly #base: ChatFoundation;
  readonly #noted: NotedStarts;
  #start: string | null = null;

  /** @param noted with this start already among them */
  constructor(base: ChatFoundation, noted: NotedStarts) {
    this.#base = base;
    this.#noted = noted;
  }

  /** Never throws: a bridge that cannot record its start starts all the same. */
  async start(): Promise<void> {
    const { store, here, logger } = this.#base;
    if (this.#start !== null) return;
    try {
      const noted = this.#noted.recent();
      this.#start = noted.at(-1) ?? null;
      if (noted.length > 0) await store.bridgeStarts.note(here.host, noted);
      const recent = (await store.bridgeStarts.recent(here.host)).map(startedAt);
      if (recent.length >= MOST_QUICK_STARTS) await this.#report(recent);
    } catch (err) {
      logger.warn({ err }, 'the start of this bridge could not be recorded');
    }
  }

  /** After an orderly stop the start does not count any more. */
  async stop(): Promise<void> {
    const { store, here, logger } = this.#base;
    const start = this.#start;
    this.#start = null;
    this.#noted.ended();
    if (start === null) return;
    await store.bridgeStarts
      .ended(here.host, start)
      .catch((err: unknown) => logger.debug({ err }, 'this stop could not be recorded'));
  }

  async #report(recent: readonly number[]): Promise<void> {
    const { store, events, here, clock, logger } = this.#base;
    const { host } = here;
    const within = describeDuration(QUICK_MS);
    logger.error(
      { starts: recent.map(isoTime) },
      `this bridge was started ${counted(recent.length, 'time')} within ${within}, each time without a clean stop before it`,
    );
    if (!(await store.bridgeStarts.isNews(host))) return;
    // The same for all starts of one series: a bridge that is killed between the two writes reports nothing twice.
    const incident_id = `bridge-restarts-${host.replace(/[^\w-]/g, '_')}-${recent[0]}`;
    const about = { event: 'bridge_restarts', reason: 'started_in_quick_succession' } as const;
    const details = { host, starts: recent.map(isoTime) };
    await events.logCriticalEvent(
      noticeEvent({ incident_id, step: 'detected', final: true, ...about, details }, clock.now()),
    );
  }
}
