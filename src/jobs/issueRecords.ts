/** Stores the records of issues; their content is defined by the report. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Redis } from 'ioredis';
import { replaceDurably } from '../files/durableFile.js';
import { applyCommit, documentChecks, documentWrite } from '../redis/commit.js';
import { HOUR } from '../time.js';
import type { Guard } from './incidentTransitions.js';
import type { Keys } from './keys.js';

const KEY = /^[0-9a-f]{64}$/;

/** Any record with a compare-and-set counter; 0 for one that is not stored yet. */
interface Revised {
  readonly rev: number;
}

export class StoredIssueRecords<RecordType extends Revised> {
  readonly #redis: Redis;
  readonly #keys: Keys;
  readonly #keyCopy: string | null;
  #knownKey: string | null = null;

  /** @param keyCopy the path of a copy, outside the store, of {@link markerKey}; null if there is none */
  constructor(redis: Redis, keys: Keys, keyCopy: string | null = null) {
    this.#redis = redis;
    this.#keys = keys;
    this.#keyCopy = keyCopy;
  }

  /** The key of the marks in this installation's issues. A copy next to the logs restores it if the store is lost. */
  async markerKey(): Promise<string> {
    const name = this.#keys.issueMarkerKey;
    const stored = await this.#redis.get(name);
    if (stored !== null && stored === this.#knownKey) return stored;
    const copy = await this.#copiedKey();
    const wanted = this.#knownKey ?? copy ?? randomBytes(32).toString('hex');
    if (stored === null) await this.#redis.set(name, wanted, 'NX');
    const key = stored ?? (await this.#redis.get(name)) ?? wanted;
    if (key !== copy && this.#keyCopy !== null) await replaceDurably(this.#keyCopy, `${key}\n`).catch(() => undefined);
    this.#knownKey = key;
    return key;
  }

  /** An unreadable copy counts as missing. */
  async #copiedKey(): Promise<string | null> {
    const text = this.#keyCopy === null ? '' : await readFile(this.#keyCopy, 'utf8').catch(() => '');
    return KEY.test(text.trim()) ? text.trim() : null;
  }

  async get(fingerprint: string): Promise<RecordType | null> {
    const doc = await this.#redis.hget(this.#keys.issue(fingerprint), 'doc');
    return doc === null ? null : (JSON.parse(doc) as RecordType);
  }

  /** Stores it with `expectedRev + 1` if `expectedRev` is stored (0: there is none). @returns false if another process was first */
  async put(fingerprint: string, record: RecordType, expectedRev: number, guard: Guard = []): Promise<boolean> {
    const key = this.#keys.issue(fingerprint);
    return applyCommit(this.#redis, {
      at: 'issue_record',
      checks: [...guard, ...documentChecks(key, expectedRev === 0 ? null : expectedRev)],
      writes: [documentWrite(key, { ...record, rev: expectedRev + 1 })],
    });
  }

  /** @returns false if another process was first */
  async remove(fingerprint: string, expectedRev: number, guard: Guard): Promise<boolean> {
    const key = this.#keys.issue(fingerprint);
    return applyCommit(this.#redis, {
      checks: [...guard, ...documentChecks(key, expectedRev)],
      writes: [['DEL', key]],
    });
  }

  /** @returns when the project's last new issue was created, epoch milliseconds; null if that is over an hour ago */
  async lastCreated(projectKey: string): Promise<number | null> {
    const at = await this.#redis.get(this.#keys.issueCreated(projectKey));
    return at === null ? null : Number(at);
  }

  async noteCreated(projectKey: string, at: number): Promise<void> {
    await this.#redis.set(this.#keys.issueCreated(projectKey), at, 'PX', HOUR);
  }
}
