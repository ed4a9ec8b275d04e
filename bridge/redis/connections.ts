/** The connections of one process to Redis, awaited, watched and closed together. */

import type { Redis } from 'ioredis';
import { UnreachableError } from '../../src/errors.js';
import {
  type ConnectionNews,
  type ConnectionPurpose,
  closeRedis,
  connectOrExplain,
  openRedis,
  redactUrl,
} from '../../src/redis/connect.js';
import { atMost, type Backoff, type Clock, pauseAfter, SECOND } from '../../src/time.js';
import type { RedisOutage } from './redisOutage.js';

const BACKOFF: Backoff = { firstMs: SECOND, longestMs: 30 * SECOND };
/** Longer than it takes to find out that no server answers. One that is still loading a large file answers with just that. */
const READY_WITHIN_MS = 30 * SECOND;

export class Connections {
  readonly #findUrl: () => string;
  readonly #outage: RedisOutage;
  readonly #clock: Clock;
  readonly #stopping: AbortSignal | null;
  readonly #opened: Redis[] = [];

  /**
   * @param findUrl called for each connection: a bridge that brings its own Redis may start later
   * @param stopping for a service: a Redis that is unreachable at the start is waited for until this aborts, just like one that
   * goes away later; null waits for nothing
   */
  constructor(findUrl: () => string, outage: RedisOutage, clock: Clock, stopping: AbortSignal | null = null) {
    this.#findUrl = findUrl;
    this.#outage = outage;
    this.#clock = clock;
    this.#stopping = stopping;
  }

  /** @throws UnreachableError if no server answers in time; UsageError if the server is unsuitable */
  async open(purpose: ConnectionPurpose): Promise<Redis> {
    const stopping = this.#stopping;
    for (let failures = 1; ; failures += 1) {
      try {
        const redis = await this.#connect(purpose);
        this.#outage.back(this, this.#address());
        return redis;
      } catch (error) {
        if (!(error instanceof UnreachableError) || stopping === null || stopping.aborted) throw error;
        this.#outage.away(this, this.#address(), `waiting for Redis: ${error.message}`);
        await this.#clock.sleep(pauseAfter(failures, BACKOFF), stopping);
      }
    }
  }

  async #connect(purpose: ConnectionPurpose): Promise<Redis> {
    const url = this.#findUrl();
    const outage = this.#outage;
    const clock = this.#clock;
    const where = redactUrl(url);
    const connection = { isUp: false };
    // A connection that never came up is handled by its opener.
    const onNews = ({ kind, words }: ConnectionNews) => {
      if (connection.isUp && kind === 'away') outage.away(connection, where, words);
      if (kind === 'back') outage.back(connection, where);
    };
    const redis = openRedis(url, { purpose, clock, onNews });
    const isReady = connectOrExplain(redis, url).then(() => true);
    if (!(await atMost(clock, READY_WITHIN_MS, isReady, false))) {
      closeRedis(redis);
      throw new UnreachableError(
        `the Redis at ${where} accepts connections but is not ready; it may still be loading its data`,
      );
    }
    connection.isUp = true;
    this.#opened.push(redis);
    return redis;
  }

  /** If a bridge brings the server, its address is not known in advance. */
  #address(): string {
    try {
      return redactUrl(this.#findUrl());
    } catch {
      return 'an address that is not known yet';
    }
  }

  closeAll(): void {
    this.#outage.stop();
    for (const redis of this.#opened.splice(0)) closeRedis(redis);
  }
}
