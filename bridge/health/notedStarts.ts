/** The starts of a host's bridge, noted in the logs folder first: one that is killed within seconds has not reached Redis yet. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../src/errors.js';
import { replaceInFolderSync } from '../../src/files/durableFile.js';
import { makePrivateFolderSync } from '../../src/files/privateFiles.js';
import { ulid } from '../../src/ids.js';
import { QUICK_MS, startedAt } from '../../src/jobs/bridgeStarts.js';
import { contentDigest } from '../../src/journal/digest.js';
import { parseObject } from '../../src/json.js';
import type { Logger } from '../../src/log/logger.js';
import type { Clock } from '../../src/time.js';

const FOLDER = 'starts';
const MOST_KEPT = 50;

export class NotedStarts {
  readonly #folder: string;
  readonly #path: string;
  readonly #host: string;
  readonly #clock: Clock;
  #own: string | null = null;

  constructor(logsFolder: string, host: string, clock: Clock) {
    this.#folder = join(logsFolder, FOLDER);
    this.#path = join(this.#folder, `${contentDigest(host)}.json`);
    this.#host = host;
    this.#clock = clock;
  }

  /** Never throws: a bridge that cannot note its start starts all the same. */
  begin(logger: Logger): void {
    this.#own = `${this.#clock.now()}.${ulid(this.#clock)}`;
    try {
      makePrivateFolderSync(this.#folder);
      this.#write(this.recent());
    } catch (error) {
      logger.warn(`the start of this bridge could not be noted in ${this.#folder}: ${describeError(error)}`);
    }
  }

  /** This bridge ended in order, or refused to start: it does not count. */
  ended(): void {
    const own = this.#own;
    this.#own = null;
    if (own === null) return;
    try {
      this.#write(this.recent().filter((start) => start !== own));
    } catch {
      // It counts once too often, for ten minutes.
    }
  }

  /** @returns the ids of the starts that no orderly end followed, the oldest first; this bridge's own is the last */
  recent(): string[] {
    const now = this.#clock.now();
    const noted = this.#read().filter((start) => Math.abs(now - startedAt(start)) <= QUICK_MS && start !== this.#own);
    return [...noted, ...(this.#own === null ? [] : [this.#own])];
  }

  #read(): string[] {
    try {
      const { starts } = parseObject<{ starts: unknown[] }>(readFileSync(this.#path, 'utf8')) ?? {};
      return Array.isArray(starts) ? starts.filter((start) => typeof start === 'string') : [];
    } catch {
      // None was noted yet.
      return [];
    }
  }

  #write(starts: readonly string[]): void {
    const text = JSON.stringify({ v: 1, host: this.#host, starts: starts.slice(-MOST_KEPT) });
    replaceInFolderSync(this.#path, `${text}\n`);
  }
}
