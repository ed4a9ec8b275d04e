/**
 * Whose turn it is to fetch a bot's messages. Telegram gives them to one poller at a time, so the bridges that share a Redis
 * elect it by a lease, and the others stay on standby. Everything that it accepts and confirms carries the lease's fencing
 * number: a poller that was paused and wakes up late stores nothing.
 *
 * While Redis is unreachable nobody knows whose turn it is. Then the last poller goes on asking Telegram, so that chats are
 * notified that their messages wait, until another poller interrupts it.
 */

import type { Check } from '../../src/redis/commit.js';
import { KeptLease, type KeptLeaseOptions } from '../../src/redis/keptLease.js';
import type { Service } from '../../src/service.js';

/** What the polling loop needs from it. */
export interface Turn {
  readonly isOurs: boolean;
  /** Aborted when the present turn ends; a new one for each. */
  readonly over: AbortSignal;
  /** @throws FencedError if the turn is another's, as far as the store has answered */
  fence(): readonly Check[];
  /** False if the lease has expired and could not be renewed: another bridge may have it by now. */
  readonly isCertain: boolean;
  /** Another bridge was seen to have it: it is not ours until the store says so. */
  giveWay(): void;
  /** Resolves when it is our turn, or `signal` aborts. */
  untilOurs(signal: AbortSignal): Promise<void>;
}

export interface PollerTurnOptions
  extends Pick<KeptLeaseOptions, 'leases' | 'clock' | 'logger' | 'leaseMs' | 'here' | 'logsFolder'> {
  readonly botId: string;
}

const WORDS = {
  standsBy: "another bridge fetches the bot's messages; this one stands by",
  begins: "this bridge fetches the bot's messages",
  ends: "another bridge fetches the bot's messages now, or nobody knows who may",
  fenced: "another bridge fetches the bot's messages now",
};

export class PollerTurn implements Service, Turn {
  readonly name = 'turn to poll';
  readonly #lease: KeptLease;
  readonly #waiting = new Set<() => void>();
  #over = new AbortController();

  constructor({ botId, ...options }: PollerTurnOptions) {
    this.#lease = new KeptLease({
      ...options,
      name: 'lease of the poller',
      words: WORDS,
      leaseName: async () => `poller:${botId}`,
      onActing: () => this.#begin(),
      onLost: () => this.#over.abort(),
    });
  }

  get isOurs(): boolean {
    return this.#lease.isOurs;
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  start(): Promise<void> {
    return this.#lease.start();
  }

  stop(): Promise<void> {
    return this.#lease.stop();
  }

  fence(): readonly Check[] {
    return this.#lease.fence();
  }

  giveWay(): void {
    this.#lease.lose();
  }

  get isCertain(): boolean {
    return this.#lease.isActing;
  }

  untilOurs(signal: AbortSignal): Promise<void> {
    if (this.isOurs || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.add(done);
    });
  }

  #begin(): void {
    if (this.#over.signal.aborted) this.#over = new AbortController();
    for (const done of [...this.#waiting]) done();
  }
}
