/**
 * The key by which an installation recognises the marks in its issues. It is in the store, so that all processes of the
 * installation share it. A copy beside the logs restores it if the store is lost, because the issues still exist then.
 */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Redis } from 'ioredis';
import type { Keys } from './keys.js';

const KEY = /^[0-9a-f]{64}$/;

export class MarkerKey {
  readonly #redis: Redis;
  readonly #keys: Keys;
  readonly #copy: string | null;
  #known: string | null = null;

  constructor(redis: Redis, keys: Keys, copy: string | null) {
    this.#redis = redis;
    this.#keys = keys;
    this.#copy = copy;
  }

  async read(): Promise<string> {
    const name = this.#keys.issueMarkerKey;
    const stored = await this.#redis.get(name);
    if (stored !== null && stored === this.#known) return stored;
    const copy = await this.#readCopy();
    const wanted = this.#known ?? copy ?? randomBytes(32).toString('hex');
    if (stored === null) await this.#redis.set(name, wanted, 'NX');
    const key = stored ?? (await this.#redis.get(name)) ?? wanted;
    if (key !== copy) await this.#writeCopy(key);
    this.#known = key;
    return key;
  }

  /** An unreadable copy counts as missing. */
  async #readCopy(): Promise<string | null> {
    const text = this.#copy === null ? '' : await readFile(this.#copy, 'utf8').catch(() => '');
    return KEY.test(text.trim()) ? text.trim() : null;
  }

  /** Without the copy, a lost store would lose the key, and each rule would get another issue. */
  async #writeCopy(key: string): Promise<void> {
    if (this.#copy === null) return;
    const beside = `${this.#copy}.${randomBytes(6).toString('hex')}`;
    await writeFile(beside, `${key}\n`, { mode: 0o600, flag: 'wx' })
      .then(() => rename(beside, this.#copy ?? beside))
      .catch(() => undefined);
  }
}
