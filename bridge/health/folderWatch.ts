/** Watches that no person or program deletes the logs folder while the bridge works: what is in memory is then written again. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { type EventLog, noticeEvent } from '../../monitoring/events/notice.js';
import { describeError } from '../../src/errors.js';
import { ID_FILE, readLogsFolderId, restoreLogsFolderId } from '../../src/files/logsFolder.js';
import { ulid } from '../../src/ids.js';
import type { Logger } from '../../src/log/logger.js';
import { RepeatedService } from '../../src/rounds.js';
import { type Clock, SECOND } from '../../src/time.js';

const LOOK_EVERY_MS = SECOND;

/** The bridge's own Redis; `missingFile` is null and `saveAgain` does nothing if the Redis is another's. */
export interface OwnRedis {
  /** @returns a file of the living server that is gone; null if none is */
  missingFile(): string | null;
  /** @param client connected since before: no new connection can reach a server whose socket is gone */
  saveAgain(client: Redis): Promise<void>;
}

export interface FolderWatchParts {
  readonly logsFolder: string;
  readonly logsId: string;
  readonly redis: OwnRedis;
  readonly client: Redis;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventLog;
  readonly host: string;
}

export class FolderWatch extends RepeatedService {
  readonly name = 'files of the bridge';
  readonly #parts: FolderWatchParts;
  /** The files that could not be restored, as last logged. */
  #trouble: string | null = null;
  #isReported = false;

  constructor(parts: FolderWatchParts) {
    super(parts.clock, LOOK_EVERY_MS, 'with a pause');
    this.#parts = parts;
  }

  /** One look. Never throws: a file that could not be restored is tried again. */
  async runOnce(): Promise<void> {
    const { logsFolder, logsId, redis, client, logger } = this.#parts;
    try {
      const missing = this.#missing();
      if (missing === null) {
        this.#trouble = null;
        this.#isReported = false;
        return;
      }
      if (!this.#isReported) {
        logger.error(
          { missing },
          `${missing} was deleted while the bridge runs: what is in memory is written again, and what else was deleted with it is lost (journals, logs, critical events)`,
        );
      }
      await restoreLogsFolderId(logsFolder, logsId);
      await redis.saveAgain(client);
      if (!this.#isReported) await this.#report(missing);
      this.#isReported = true;
    } catch (err) {
      const why = describeError(err);
      if (why !== this.#trouble)
        logger.error({ err }, `deleted files of the bridge cannot be written again yet: ${why}`);
      this.#trouble = why;
    }
  }

  /** A folder that cannot be read for a moment is not gone. */
  #missing(): string | null {
    const { logsFolder, redis } = this.#parts;
    const idFile = join(logsFolder, ID_FILE);
    return readLogsFolderId(logsFolder) === null && !existsSync(idFile) ? idFile : redis.missingFile();
  }

  async #report(missing: string): Promise<void> {
    const { clock, events, host } = this.#parts;
    const about = { event: 'files_deleted', reason: 'logs_folder_deleted', details: { host, missing } } as const;
    await events.logCriticalEvent(noticeEvent({ incident_id: ulid(clock), step: 'noticed', ...about }, clock.now()));
  }
}
