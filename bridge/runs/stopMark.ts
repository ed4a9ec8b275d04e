/**
 * A mark on the disk that a bridge is stopping. A bridge that is killed during its stop, or whose store does not answer, must
 * not cost its messages an attempt: the next bridge, or a standby with the same logs folder, puts back what the marked one was
 * running.
 *
 * Limit: a standby with another logs folder takes the runs for orphans of a crashed bridge.
 */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CorruptRecordError } from '../../src/errors.js';
import { replaceDurably } from '../../src/files/durableFile.js';
import { readPlainFile } from '../../src/files/plainFile.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { parseObject } from '../../src/json.js';
import type { Logger } from '../../src/log/logger.js';
import { hasSecondBegun } from './cutDown.js';

const LONGEST_BYTES = 4_096;

export class StopMark {
  readonly #logsFolder: string;
  readonly #path: string;
  readonly #here: ProcessIdentity;
  readonly #logger: Logger;

  constructor(logsFolder: string, here: ProcessIdentity, logger: Logger) {
    this.#logsFolder = logsFolder;
    this.#path = join(logsFolder, 'stopping.json');
    this.#here = here;
    this.#logger = logger;
  }

  /** Never throws: without the mark, a stop that is cut off costs attempts, and nothing else. */
  async set(): Promise<void> {
    try {
      await replaceDurably(this.#path, `${JSON.stringify({ v: 1, owner: this.#here })}\n`);
    } catch (err) {
      this.#logger.warn({ err }, 'the start of the shutdown could not be recorded');
    }
  }

  /** A standby may need the mark as long as a run of the marked process is active. Never throws. */
  async clearUnlessNeeded(active: readonly (AgentSession | CorruptRecordError)[]): Promise<void> {
    const marked = await this.#marked();
    const isIts = (session: AgentSession | CorruptRecordError) =>
      !(session instanceof CorruptRecordError) && isDeepStrictEqual(session.run?.owner, marked);
    if (marked !== null && active.some(isIts)) return;
    await rm(this.#path, { force: true }).catch((err: unknown) =>
      this.#logger.warn({ err }, 'the mark of a stop could not be removed'),
    );
  }

  /** @returns false if it cannot be read, or the store has forgotten that a second attempt began */
  async wasStopping(session: AgentSession): Promise<boolean> {
    const marked = await this.#marked();
    if (marked === null || !isDeepStrictEqual(session.run?.owner, marked)) return false;
    return !hasSecondBegun(this.#logsFolder, session);
  }

  /** @returns the process that the mark names; null if there is no readable mark */
  async #marked(): Promise<unknown> {
    const text = await readPlainFile(this.#path, LONGEST_BYTES).catch(() => '');
    return parseObject<{ owner: unknown }>(text)?.owner ?? null;
  }
}
