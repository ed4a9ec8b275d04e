/**
 * A word on the disk that a bridge is being stopped. Who kills it before it is done, or a store that does not answer, must not
 * cost its messages an attempt: the next bridge, or a standby with the same logs folder, puts back what the marked one was
 * running.
 *
 * Limit: a standby with another logs folder takes the runs for orphans of a bridge that died.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { replaceDurably } from '../../src/durableFile.js';
import type { Logger } from '../../src/logger.js';
import type { ProcessIdentity } from '../../src/model.js';
import { readPlainFile } from '../../src/plainFile.js';

const LONGEST_BYTES = 4_096;

export class StopMark {
  readonly #path: string;
  readonly #here: ProcessIdentity;
  readonly #logger: Logger;

  constructor(logsFolder: string, here: ProcessIdentity, logger: Logger) {
    this.#path = join(logsFolder, 'stopping.json');
    this.#here = here;
    this.#logger = logger;
  }

  /** Never throws: without the mark a stop that is cut off costs attempts, and nothing else. */
  async set(): Promise<void> {
    try {
      await replaceDurably(this.#path, `${JSON.stringify({ v: 1, owner: this.#here })}\n`);
    } catch (err) {
      this.#logger.warn({ err }, 'that the bridge is being stopped could not be noted');
    }
  }

  /** Never throws. */
  async clear(): Promise<void> {
    await rm(this.#path, { force: true }).catch((err: unknown) =>
      this.#logger.warn({ err }, 'the mark of a stop could not be taken away'),
    );
  }

  /** @returns whether this process was being stopped when it went; false where that cannot be read */
  async isOf(owner: ProcessIdentity): Promise<boolean> {
    try {
      const marked: unknown = JSON.parse(await readPlainFile(this.#path, LONGEST_BYTES));
      return (
        typeof marked === 'object' && marked !== null && 'owner' in marked && isDeepStrictEqual(marked.owner, owner)
      );
    } catch {
      return false;
    }
  }
}
