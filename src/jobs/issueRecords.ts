/** Stores the records of issues; their content is defined by the report. */
import type { Redis } from 'ioredis';
import { applyCommit, documentChecks, documentWrite } from '../redis/commit.js';
import { HOUR } from '../time.js';
import type { Guard } from './incidentTransitions.js';
import type { Keys } from './keys.js';
import { MarkerKey } from './markerKey.js';

/** Any record with a compare-and-set counter; 0 for one that is not stored yet. */
interface Revised {
  readonly rev: number;
}

export class StoredIssueRecords<RecordType extends Revised> {
  readonly #redis: Redis;
  readonly #keys: Keys;

  readonly #markerKey: MarkerKey;

  /** @param keyCopy the path of a copy, outside the store, of the key of the marks; null: there is none */
  constructor(redis: Redis, keys: Keys, keyCopy: string | null = null) {
    this.#redis = redis;
    this.#keys = keys;
    this.#markerKey = new MarkerKey(redis, keys, keyCopy);
  }

  /** @returns the key that identifies this installation's issues; the same for all processes on this Redis */
  markerKey(): Promise<string> {
    return this.#markerKey.read();
  }

  async get(fingerprint: string): Promise<RecordType | null> {
    const doc = await this.#redis.hget(this.#keys.issue(fingerprint), 'doc');
    return doc === null ? null : (JSON.parse(doc) as RecordType);
  }

  /** @returns false if another process was first */
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
