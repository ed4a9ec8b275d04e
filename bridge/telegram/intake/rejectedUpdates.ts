import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError } from '../../../src/errors.js';
import { appendPrivately, PRIVATE_FOLDER } from '../../../src/files/privateFiles.js';
import { redactJsonLine } from '../../../src/log/redact.js';
import { cutText } from '../../../src/log/shorten.js';
import { isoTime } from '../../../src/time.js';
import type { ChatFoundation } from '../../chat/foundation.js';

/** UTF-16 units of the update that are kept. */
const KEPT_LENGTH = 8_000;

/** Updates that could not be handled and never will be, in `logs/rejected_updates.jsonl`. */
export class RejectedUpdates {
  readonly #base: ChatFoundation;
  readonly #path: string;

  constructor(base: ChatFoundation, logsFolder: string) {
    this.#base = base;
    this.#path = join(logsFolder, 'rejected_updates.jsonl');
  }

  /** Never throws: if the file cannot be written, the log has the details. */
  async add(update: unknown, error: unknown): Promise<void> {
    const { redact, clock, logger } = this.#base;
    const update_id = (update as { update_id?: unknown } | null)?.update_id ?? null;
    const text = cutText(redact(JSON.stringify(update) ?? 'undefined'), KEPT_LENGTH);
    const line = { v: 1, timestamp: isoTime(clock.now()), update_id, error: describeError(error), update: text };
    logger.error({ err: error, update_id }, `an update was passed over for good; see ${this.#path}`);
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: PRIVATE_FOLDER });
      appendPrivately(this.#path, `${redactJsonLine(redact, JSON.stringify(line))}\n`);
    } catch (err) {
      logger.error({ err, update_id, update: text }, `${this.#path} could not be written`);
    }
  }
}
