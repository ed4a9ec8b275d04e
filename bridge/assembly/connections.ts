/** The connections of one process to Redis, waited for, watched and closed together; and stores for a moment. */

import type { Redis } from 'ioredis';
import { type Backoff, pauseAfter } from '../../src/backoff.js';
import type { Settings } from '../../src/config/settings.js';
import { UnreachableError } from '../../src/errors.js';
import { requireReadable } from '../../src/jobs/schema.js';
import { openStore, type Store } from '../../src/jobs/store.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import {
  type ConnectionNews,
  type ConnectionPurpose,
  closeRedis,
  connectOrExplain,
  openRedis,
  redactUrl,
} from '../../src/redis/connect.js';
import { atMost, SECOND, systemClock } from '../../src/time.js';
import { findEmbeddedRedis } from '../redis/endpoint.js';
import { type Foundation, layFoundation } from './foundation.js';

const BACKOFF: Backoff = { firstMs: SECOND, longestMs: 30 * SECOND };
/** Longer than it takes to find out that nobody answers. A server that loads a large file answers, and only that. */
const READY_WITHIN_MS = 30 * SECOND;

/** The connections of one process, closed together. */
export class Connections {
  private readonly findUrl: () => string;
  private readonly foundation: Pick<Foundation, 'outage' | 'clock'>;
  private readonly stopping: AbortSignal | null;
  private readonly opened: Redis[] = [];

  /**
   * @param findUrl asked anew for each connection: a bridge that brings its own Redis may start later
   * @param stopping for who serves: a Redis that is away at the start is waited for until this aborts, as one that goes away
   *   later is; null waits for nothing
   */
  constructor(
    findUrl: () => string,
    foundation: Pick<Foundation, 'outage' | 'clock'>,
    stopping: AbortSignal | null = null,
  ) {
    this.findUrl = findUrl;
    this.foundation = foundation;
    this.stopping = stopping;
  }

  /**
   * @throws UnreachableError where nobody answers and nobody waits, or waits any longer
   * @throws UsageError where the server will not do
   */
  async open(purpose: ConnectionPurpose): Promise<Redis> {
    const { outage, clock } = this.foundation;
    const { stopping } = this;
    for (let failures = 1; ; failures += 1) {
      try {
        const redis = await this.connect(purpose);
        outage.back(this, this.address());
        return redis;
      } catch (error) {
        if (!(error instanceof UnreachableError) || stopping === null || stopping.aborted) throw error;
        outage.away(this, this.address(), `waiting for Redis: ${error.message}`);
        await clock.sleep(pauseAfter(failures, BACKOFF), stopping);
      }
    }
  }

  private async connect(purpose: ConnectionPurpose): Promise<Redis> {
    const url = this.findUrl();
    const { outage, clock } = this.foundation;
    const where = redactUrl(url);
    const connection = { isUp: false };
    // One that never came up is its opener's business.
    const onNews = ({ kind, words }: ConnectionNews) => {
      if (connection.isUp && kind === 'away') outage.away(connection, where, words);
      if (kind === 'back') outage.back(connection, where);
    };
    const redis = openRedis(url, { purpose, clock, onNews });
    const isUp = await atMost(
      clock,
      READY_WITHIN_MS,
      connectOrExplain(redis, url).then(() => true),
      false,
    );
    if (!isUp) {
      closeRedis(redis);
      throw new UnreachableError(
        `the Redis at ${where} takes connections and is not ready; it may still read its data`,
      );
    }
    connection.isUp = true;
    this.opened.push(redis);
    return redis;
  }

  /** Where a bridge brings the server, nobody knows its address before. */
  private address(): string {
    try {
      return redactUrl(this.findUrl());
    } catch {
      return 'an address that is not known yet';
    }
  }

  closeAll(): void {
    this.foundation.outage.stop();
    for (const redis of this.opened.splice(0)) closeRedis(redis);
  }
}

/**
 * For commands that only look or ask: a store for as long as `work` takes.
 * @throws UnreachableError where there is no Redis to be found
 */
export async function withStore<T>(
  settings: Settings,
  work: (parts: { store: Store; foundation: Foundation }) => Promise<T>,
): Promise<T> {
  const quiet: TerminalStream = { write: () => true, on: () => undefined };
  const foundation = layFoundation(settings, quiet, null);
  const connections = new Connections(() => redisUrlOf(settings), foundation);
  try {
    const store = openStore(await connections.open('commands'), systemClock);
    await requireReadable(store.redis, store.keys);
    return await work({ store, foundation });
  } finally {
    connections.closeAll();
  }
}

/**
 * @returns where the store is: as configured, else the server that a bridge on this logs folder has brought
 * @throws UnreachableError where there is neither
 */
export function redisUrlOf(settings: Settings): string {
  return settings.redisUrl ?? findEmbeddedRedis(settings.logsFolder).url;
}
