/** Records the bridge's starts, and reports when they follow each other quickly: something keeps ending it. */
import { type EventLog, noticeEvent } from '../../monitoring/events/notice.js';
import { counted } from '../../src/counted.js';
import { type BridgeStarts, MOST_QUICK_STARTS, QUICK_MS } from '../../src/jobs/bridgeStarts.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import { type Clock, describeDuration, isoTime } from '../../src/time.js';

export interface RestartWatchParts {
  readonly starts: BridgeStarts;
  readonly events: EventLog;
  readonly host: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class RestartWatch implements Service {
  readonly name = 'starts of the bridge';
  readonly #parts: RestartWatchParts;
  #start: string | null = null;

  constructor(parts: RestartWatchParts) {
    this.#parts = parts;
  }

  /** Never throws: a bridge that cannot record its start starts all the same. */
  async start(): Promise<void> {
    const { starts, host, logger } = this.#parts;
    if (this.#start !== null) return;
    try {
      this.#start = await starts.begin(host);
      const recent = await starts.recent(host);
      if (recent.length >= MOST_QUICK_STARTS) await this.#report(recent);
    } catch (err) {
      logger.warn({ err }, 'the start of this bridge could not be recorded');
    }
  }

  /** After an orderly stop the start does not count any more. */
  async stop(): Promise<void> {
    const { starts, host, logger } = this.#parts;
    const start = this.#start;
    this.#start = null;
    if (start === null) return;
    await starts.ended(host, start).catch((err: unknown) => logger.debug({ err }, 'this stop could not be recorded'));
  }

  async #report(recent: readonly number[]): Promise<void> {
    const { starts, events, host, clock, logger } = this.#parts;
    const within = describeDuration(QUICK_MS);
    logger.error(
      { starts: recent.map(isoTime) },
      `this bridge was started ${counted(recent.length, 'time')} within ${within}, each time without a clean stop before it`,
    );
    if (!(await starts.isNews(host))) return;
    // The same for all starts of one series: a bridge that is killed between the two writes reports nothing twice.
    const incident_id = `bridge-restarts-${host.replace(/[^\w-]/g, '_')}-${recent[0]}`;
    const about = { event: 'bridge_restarts', reason: 'started_in_quick_succession' } as const;
    const details = { host, starts: recent.map(isoTime) };
    await events.logCriticalEvent(
      noticeEvent({ incident_id, step: 'detected', final: true, ...about, details }, clock.now()),
    );
  }
}
