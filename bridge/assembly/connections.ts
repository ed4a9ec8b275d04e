/** The connections of one process to Redis, awaited, watched and closed together; and stores for short use. */

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
/** Longer than it takes to find out that nobody answers. A server that is still loading a large file answers just that. */
const READY_WITHIN_MS = 30 * SECOND;

/** The connections of one process, closed together. */
export class Connections {
  private readonly findUrl: () => string;
  private readonly foundation: Pick<Foundation, 'outage' | 'clock'>;
  private readonly stopping: AbortSignal | null;
  private readonly opened: Redis[] = [];

  /**
   * @param findUrl called for each connection: a bridge that brings its own Redis may start later
   * @param stopping for a service: a Redis that is unreachable at the start is waited for until this aborts, just like one that
   * goes away later; null waits for nothing
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
   * @throws UnreachableError if nobody answers and the wait is over or was not wanted
   * @throws UsageError if the server is unsuitable
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
    // A connection that never came up is handled by its opener.
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

  /** If a bridge brings the server, its address is not known in advance. */
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
 * @throws UnreachableError if no Redis can be found
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
 * @returns the address of the store: as configured, else the server that a bridge on this logs folder has brought
 * @throws UnreachableError if there is neither
 */
export function redisUrlOf(settings: Settings): string {
  return settings.redisUrl ?? findEmbeddedRedis(settings.logsFolder).url;
}
