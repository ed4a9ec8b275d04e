import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError } from '../../src/errors.js';
import { appendPrivately, PRIVATE_FOLDER } from '../../src/files/privateFiles.js';
import type { Logger } from '../../src/log/logger.js';
import { type Redact, redactJsonLine } from '../../src/log/redact.js';
import { cutText } from '../../src/log/shorten.js';
import { type Clock, isoTime } from '../../src/time.js';

/** UTF-16 units of the update that are kept. */
const KEPT_LENGTH = 8_000;

/** Updates that could not be handled and never will be, in `logs/rejected_updates.jsonl`. */
export class RejectedUpdates {
  readonly #path: string;
  readonly #redact: Redact;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(logsFolder: string, redact: Redact, clock: Clock, logger: Logger) {
    this.#path = join(logsFolder, 'rejected_updates.jsonl');
    this.#redact = redact;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Never throws: if the file cannot be written, the log has the details. */
  async add(update: unknown, error: unknown): Promise<void> {
    const updateId = (update as { update_id?: unknown } | null)?.update_id ?? null;
    const text = cutText(this.#redact(JSON.stringify(update) ?? 'undefined'), KEPT_LENGTH);
    const line = {
      v: 1,
      timestamp: isoTime(this.#clock.now()),
      update_id: updateId,
      error: describeError(error),
      update: text,
    };
    this.#logger.error({ err: error, update_id: updateId }, `an update was passed over for good; see ${this.#path}`);
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: PRIVATE_FOLDER });
      appendPrivately(this.#path, `${redactJsonLine(this.#redact, JSON.stringify(line))}\n`);
    } catch (err) {
      this.#logger.error({ err, update_id: updateId, update: text }, `${this.#path} could not be written`);
    }
  }
}
