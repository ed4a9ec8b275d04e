/** A run's journal. A full disk must not end a healthy run: it is said, and the watchdog judges from what there is. */
import { describeError } from '../../src/errors.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import { JournalWriter } from '../../src/journal/writer.js';
import type { Logger } from '../../src/logger.js';
import type { Clock } from '../../src/time.js';

export interface RunJournalContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logsFolder: string;
  readonly redact: (text: string) => string;
}

export class RunJournal {
  readonly #logger: Logger;
  readonly #sessionId: string;
  readonly #writer: JournalWriter | null;

  /** Opens the journal; never throws, as nothing here does. */
  constructor(context: RunJournalContext, sessionId: string) {
    this.#logger = context.logger;
    this.#sessionId = sessionId;
    this.#writer = this.#orSay(() => JournalWriter.open({ ...context, sessionId }));
  }

  append(line: JournalEvent): void {
    this.#orSay(() => this.#writer?.append(line));
  }

  /** Appends the last line and closes. */
  end(reason: string): void {
    this.append({ event: 'session_end', reason });
    this.#orSay(() => this.#writer?.close());
  }

  #orSay<T>(work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      this.#logger.error({ err: error, session_id: this.#sessionId }, describeError(error));
      return null;
    }
  }
}
