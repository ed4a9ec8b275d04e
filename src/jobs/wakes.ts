/** Which session, lane, incident or message to check now. A lost wake costs only time: every listener checks on schedule. */
import type { Redis } from 'ioredis';
import { parseObject } from '../json.js';
import type { Message } from '../redis/commit.js';
import type { Service } from '../service.js';
import type { Keys } from './keys.js';

/** A writer's notification to every listener about a check worth doing now. */
export interface Wake extends Message {
  readonly session?: string;
  readonly lane?: string;
  readonly stop?: string;
  readonly incident?: string;
  readonly outbox?: string;
  /** The id of a request to read the configuration again. */
  readonly reload?: string;
  /** Wakes may have been lost: check everything. */
  readonly everything?: true;
}

export class Wakes implements Service {
  readonly name = 'wakes';
  readonly #subscriber: Redis;
  readonly #keys: Keys;
  readonly #listeners = new Set<(wake: Wake) => void>();
  #isStarted = false;

  /** @param subscriber a separate connection; the caller closes it */
  constructor(subscriber: Redis, keys: Keys) {
    this.#subscriber = subscriber;
    this.#keys = keys;
  }

  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#subscriber.on('message', this.#receive);
    await this.#subscriber.subscribe(this.#keys.wakeChannel);
    // From here on `ready` means that the connection was lost and is back.
    this.#subscriber.on('ready', this.#catchUp);
  }

  async stop(): Promise<void> {
    if (!this.#isStarted) return;
    this.#isStarted = false;
    this.#subscriber.off('message', this.#receive);
    this.#subscriber.off('ready', this.#catchUp);
    this.#listeners.clear();
  }

  listen(listener: (wake: Wake) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly #receive = (channel: string, text: string): void => {
    if (channel !== this.#keys.wakeChannel) return;
    // Any client of Redis may publish. An invalid message is ignored, because a lost wake does no harm.
    const wake = parseObject<Wake>(text);
    if (wake !== null) this.#notify(wake);
  };

  /** Called only once the subscription is active again: later wakes arrive. */
  readonly #catchUp = (): void => {
    this.#subscriber.subscribe(this.#keys.wakeChannel).then(
      () => this.#notify({ everything: true }),
      // The connection broke again; it reconnects by itself.
      () => undefined,
    );
  };

  #notify(wake: Wake): void {
    for (const listener of this.#listeners) listener(wake);
  }
}

/** @returns how many processes have received it */
export async function publishWake({ redis, keys }: { redis: Redis; keys: Keys }, wake: Wake): Promise<number> {
  return redis.publish(keys.wakeChannel, JSON.stringify(wake));
}
