/**
 * The turn to fetch a bot's messages. Telegram gives them to one poller at a time, so the bridges that share a Redis elect it by
 * a lease, and the others stay on standby. Everything that it accepts and confirms carries the lease's fencing number: a poller
 * that was paused and wakes up late stores nothing.
 *
 * While Redis is unreachable no bridge knows whose turn it is. Then the last poller continues to ask Telegram, so that chats are
 * notified that their messages wait, until another poller interrupts it.
 */
import { EventEmitter, once } from 'node:events';
import type { Check } from '../../../src/redis/commit.js';
import { KeptLease } from '../../../src/redis/keptLease.js';
import type { Service } from '../../../src/service.js';
import type { TelegramFoundation } from '../api.js';

/** The part that the polling loop needs. */
export type Turn = Omit<PollerTurn, keyof Service>;

const WORDS = {
  standsBy: "another bridge fetches the bot's messages; this one is on standby",
  begins: "this bridge fetches the bot's messages",
  ends: "another bridge fetches the bot's messages now, or it is unknown which may",
  fenced: "another bridge fetches the bot's messages now",
};

export class PollerTurn implements Service {
  readonly name = 'turn to poll';
  readonly #lease: KeptLease;
  readonly #begins = new EventEmitter();
  #over = new AbortController();

  /** @param leaseMs milliseconds */
  constructor({ store, api, clock, logger, here }: TelegramFoundation, logsFolder: string, leaseMs: number) {
    this.#lease = new KeptLease({
      ...{ leases: store.leases, clock, logger, here, logsFolder, leaseMs },
      name: 'lease of the poller',
      words: WORDS,
      leaseName: async () => `poller:${api.botId}`,
      onActing: () => this.#begin(),
      onLost: () => this.#over.abort(),
    });
  }

  get isOurs(): boolean {
    return this.#lease.isOurs;
  }

  /** Aborted when the present turn ends; a new one for each. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  start(): Promise<void> {
    return this.#lease.start();
  }

  stop(): Promise<void> {
    return this.#lease.stop();
  }

  /** @throws FencedError if the turn is another's, as far as the store has answered */
  fence(): readonly Check[] {
    return this.#lease.fence();
  }

  /** Another bridge was seen to have it: it is not ours until the store says so. */
  giveWay(): void {
    this.#lease.lose();
  }

  /** False if the lease has expired and could not be renewed: another bridge may have it by now. */
  get isCertain(): boolean {
    return this.#lease.isActing;
  }

  async untilOurs(signal: AbortSignal): Promise<void> {
    if (!this.isOurs) await once(this.#begins, 'ours', { signal }).catch(() => undefined);
  }

  #begin(): void {
    if (this.#over.signal.aborted) this.#over = new AbortController();
    this.#begins.emit('ours');
  }
}
