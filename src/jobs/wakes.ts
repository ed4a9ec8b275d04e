/**
 * What writers tell: which session, lane, incident or message is worth a look now. A lost wake costs time, never truth:
 * everybody who listens also looks on a schedule.
 */
import type { Redis } from 'ioredis';
import type { Keys } from '../jobs/keys.js';
import type { Message } from '../redis/commit.js';
import type { Service } from '../service.js';

/** What a writer tells everybody who listens: what is worth a look now. */
export interface Wake extends Message {
  readonly session?: string;
  readonly lane?: string;
  readonly stop?: string;
  readonly incident?: string;
  readonly outbox?: string;
  /** Wakes may have been lost: look at everything. */
  readonly everything?: true;
}

export class Wakes implements Service {
  readonly name = 'wakes';
  readonly #subscriber: Redis;
  readonly #keys: Keys;
  readonly #listeners = new Set<(wake: Wake) => void>();
  #isStarted = false;

  /** @param subscriber a connection of its own; the caller closes it */
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

  /** @returns a function that ends the listening */
  listen(listener: (wake: Wake) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly #receive = (channel: string, text: string): void => {
    if (channel !== this.#keys.wakeChannel) return;
    const wake = parseWake(text);
    if (wake !== null) this.#tell(wake);
  };

  /** Told only once the subscription stands again: what is written from then on is heard. */
  readonly #catchUp = (): void => {
    this.#subscriber.subscribe(this.#keys.wakeChannel).then(
      () => this.#tell({ everything: true }),
      // The connection broke again; it comes back by itself.
      () => undefined,
    );
  };

  #tell(wake: Wake): void {
    for (const listener of this.#listeners) listener(wake);
  }
}

/** Tells whoever listens that something is worth a look now. */
export async function publishWake({ redis, keys }: { redis: Redis; keys: Keys }, wake: Wake): Promise<void> {
  await redis.publish(keys.wakeChannel, JSON.stringify(wake));
}

/** Anybody may publish; what is no wake is passed over, for a lost one does no harm. */
function parseWake(text: string): Wake | null {
  try {
    const wake: unknown = JSON.parse(text);
    return typeof wake === 'object' && wake !== null ? (wake as Wake) : null;
  } catch {
    return null;
  }
}
