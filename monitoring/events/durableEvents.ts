/**
 * Keeps critical events safe while the disk is full, read-only or gone. A line that the file does not accept is kept in the
 * store, before the step that it describes is stored there, and written as soon as the file accepts it. Lines keep their order:
 * while some are pending, new ones queue behind them.
 *
 * Two processes that share the folder may both write a pending line; readers drop the second by its id.
 */
import { describeError } from '../../src/errors.js';
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { OwedEvents } from '../../src/jobs/owedEvents.js';
import type { Logger } from '../../src/log/logger.js';
import { type Redact, redactJsonLine } from '../../src/log/redact.js';
import { RepeatedService } from '../../src/rounds.js';
import { type Clock, SECOND } from '../../src/time.js';
import { parseEvent } from './criticalEventTail.js';
import type { EventLog } from './notice.js';

const MAKE_UP_EVERY_MS = 10 * SECOND;

export interface DurableEventsParts {
  readonly file: EventLog;
  readonly owed: OwedEvents;
  readonly logsFolder: string;
  readonly redact: Redact;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class DurableEvents extends RepeatedService {
  readonly name = 'critical events';
  readonly #parts: DurableEventsParts;
  #logsId: string | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #trouble: string | null = null;

  constructor(parts: DurableEventsParts) {
    super(parts.clock, MAKE_UP_EVERY_MS);
    this.#parts = parts;
  }

  /** Why the file accepted no line at the last try; null if it did. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** @returns how many lines wait for the file @throws ioredis' error if Redis is unreachable */
  async owed(): Promise<number> {
    const id = this.#folderId();
    return id === null ? 0 : this.#parts.owed.count(id);
  }

  /** Resolves when the line is on the disk, or kept in the store. @throws UnreachableError if both refuse it */
  logCriticalEvent(event: CriticalEvent): Promise<void> {
    return this.#inTurn(async () => {
      try {
        await this.#makeUp();
        await this.#write(event);
      } catch (error) {
        await this.#keep(event, error);
      }
    });
  }

  /** Writes pending lines, as far as the file accepts them. Never throws. */
  runOnce(): Promise<void> {
    return this.#inTurn(() => this.#makeUp().catch(() => undefined));
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** @throws the file's error; an unreachable store does not keep lines from the file */
  async #makeUp(): Promise<void> {
    const { owed, logger } = this.#parts;
    const id = this.#folderId();
    if (id === null) return;
    let made = 0;
    for (;;) {
      const text = await owed.first(id).catch(() => null);
      if (text === null) break;
      const event = parseEvent(text);
      if (event === null) logger.error({ event: text }, 'an owed critical event cannot be read and is skipped');
      else await this.#write(event);
      try {
        await owed.settle(id, text);
      } catch {
        return;
      }
      made += 1;
    }
    if (made > 0) logger.info({ events: made }, `critical events are written again, ${made} of them late`);
  }

  async #write(event: CriticalEvent): Promise<void> {
    try {
      await this.#parts.file.logCriticalEvent(event);
      this.#trouble = null;
    } catch (error) {
      this.#trouble = describeError(error);
      throw error;
    }
  }

  async #keep(event: CriticalEvent, error: unknown): Promise<void> {
    const { owed, redact, logger } = this.#parts;
    const id = this.#folderId();
    if (id === null) throw error;
    try {
      await owed.add(id, redactJsonLine(redact, JSON.stringify(event)));
    } catch {
      throw error;
    }
    const said = `critical event ${event.id} is kept in Redis until its file can be written: ${describeError(error)}`;
    logger.error({ err: error, event }, said);
  }

  /** Remembered, because the folder may be gone when it is needed. */
  #folderId(): string | null {
    try {
      this.#logsId ??= readLogsFolderId(this.#parts.logsFolder);
    } catch {
      // The folder cannot be read now.
    }
    return this.#logsId;
  }
}
