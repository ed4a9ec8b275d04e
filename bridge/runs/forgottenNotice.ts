/**
 * Reports that the store has forgotten accepted messages, with one critical event for everything found missing within a moment.
 * Messages that this bridge still knows are stored again and continue. The others are lost, and must be reported.
 */

import { type EventLog, noticeEvent } from '../../monitoring/events/notice.js';
import { ulid } from '../../src/ids.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import { atMost, type Clock, SECOND, type Timer } from '../../src/time.js';

/** Runs notice it at different times. */
const GATHERED_FOR_MS = 10 * SECOND;
/** A run's end, and with it its lane, waits for this. */
const WRITTEN_WITHIN_MS = 5 * SECOND;
const MOST_NAMED = 100;

export class ForgottenNotice implements Service {
  readonly name = 'what the store forgot';
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #events: EventLog;
  readonly #host: string;
  readonly #found = new Set<string>();
  #since: number | null = null;
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(clock: Clock, logger: Logger, events: EventLog, host: string) {
    this.#clock = clock;
    this.#logger = logger;
    this.#events = events;
    this.#host = host;
  }

  async start(): Promise<void> {}

  /** Reports all that was found so far. */
  async stop(): Promise<void> {
    await this.#report();
  }

  /** Notes that a session's record was missing and has been stored again. Never throws. */
  readonly note = (sessionId: string): void => {
    this.#note(sessionId, 'it is stored again and continues');
  };

  /** Never throws. @returns when the event is written, or its time has passed; what comes during a write goes into the next one */
  readonly noteLost = async (...sessionIds: readonly string[]): Promise<void> => {
    for (const sessionId of sessionIds) this.#note(sessionId, 'its chat is notified');
    const written = this.#writing.then(() => this.#report());
    await atMost(this.#clock, WRITTEN_WITHIN_MS, written, undefined);
  };

  /** The store has forgotten everything, perhaps also sessions unknown to this bridge. Never throws. */
  noteAll(): void {
    this.#logger.error('Redis has lost all its data; this bridge stores again what it knows');
    this.#gather();
  }

  #note(sessionId: string, what: string): void {
    this.#logger.error({ session_id: sessionId }, `session ${sessionId}: Redis has lost its record; ${what}`);
    this.#found.add(sessionId);
    this.#gather();
  }

  #gather(): void {
    this.#since ??= this.#clock.now();
    this.#timer ??= this.#clock.after(GATHERED_FOR_MS, () => void this.#report());
  }

  /** @returns when everything found so far is written */
  #report(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#since === null) return this.#writing;
    const sessions = [...this.#found];
    const details = { host: this.#host, stored_again: sessions.length, sessions: sessions.slice(0, MOST_NAMED) };
    const about = { event: 'store_forgot', reason: 'records_missing', details } as const;
    const incident_id = `store-forgot-${ulid(this.#clock)}`;
    const event = noticeEvent({ incident_id, step: 'detected', final: true, ...about }, this.#since);
    this.#since = null;
    this.#found.clear();
    const written = this.#events
      .logCriticalEvent(event)
      .catch((err: unknown) => this.#logger.error({ err, event }, `critical event ${event.id} could not be written`));
    this.#writing = Promise.all([this.#writing, written]).then(() => undefined);
    return this.#writing;
  }
}
