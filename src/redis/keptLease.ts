/** A lease that is kept while the process runs: renewed three times per lease. Commits contain its fencing number. */

import { FencedError } from '../errors.js';
import type { ProcessIdentity } from '../host/identity.js';
import { isOwnerAlive } from '../host/lifeSign.js';
import { ulid } from '../ids.js';
import type { Logger } from '../log/logger.js';
import type { Service } from '../service.js';
import type { Clock } from '../time.js';
import type { Check } from './commit.js';
import type { HeldLease, Leases } from './leases.js';

const RENEWALS_PER_LEASE = 3;

/** Sentences for the log. */
export interface LeaseWords {
  /** Logged at the start, while another process holds it. */
  readonly standsBy: string;
  readonly begins: string;
  readonly ends: string;
  /** Why a commit is refused. */
  readonly fenced: string;
}

export interface KeptLeaseOptions {
  /** Its name in the log: `watchdog lease`. */
  readonly name: string;
  leaseName(): Promise<string>;
  readonly words: LeaseWords;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs: number;
  /** This process's identity, so that others on the host see whether it is alive. */
  readonly here: ProcessIdentity;
  /** Stored in the lease, for the processes that compete for it. */
  readonly marks?: Readonly<Record<string, boolean>>;
  /** Shared with the processes that compete for it; life signs are looked for there. */
  readonly logsFolder: string;
  /** Until this instant another process's expired lease is left to it, epoch milliseconds. */
  spareUntil?(): number;
  /** @returns whether the holder, `owner` in the lease, has to give way to this process */
  yields?(owner: string): boolean;
  onActing?(): void;
  /** Called when another process turns out to hold the lease. */
  onLost?(): void;
}

export class KeptLease implements Service {
  readonly name: string;
  readonly #options: KeptLeaseOptions;
  readonly #owner: string;
  #held: HeldLease | null = null;
  /** On the monotonic clock: a jump of the wall clock must not lengthen it. */
  #heldUntil = 0;
  /** The state that the log and {@link KeptLeaseOptions.onActing} were last notified of. */
  #isAnnounced = false;
  #keeping: Promise<void> | null = null;
  #pause = new AbortController();
  #stopping = new AbortController();

  constructor(options: KeptLeaseOptions) {
    this.name = options.name;
    this.#options = options;
    this.#owner = JSON.stringify({ ...options.here, ...options.marks, id: ulid(options.clock) });
  }

  get isActing(): boolean {
    return this.#held !== null && this.#options.clock.monotonic() < this.#heldUntil;
  }

  /** According to the last reply of the store: it may have expired by now without another process taking it. */
  get isOurs(): boolean {
    return this.#held !== null;
  }

  async start(): Promise<void> {
    if (this.#keeping !== null) return;
    this.#stopping = new AbortController();
    const name = await this.#options.leaseName();
    await this.#renew(name);
    if (!this.isActing) this.#options.logger.info(this.#options.words.standsBy);
    this.#keeping = this.#keep(name);
  }

  /** Releases the lease, so that no other process need wait for its expiry. */
  async stop(): Promise<void> {
    if (this.#keeping === null) return;
    this.#stopping.abort();
    this.#pause.abort();
    await this.#keeping;
    this.#keeping = null;
    const held = this.#held;
    this.#held = null;
    if (held !== null) await this.#options.leases.giveBack(held).catch(() => undefined);
  }

  /** The checks for the holder's commits. @throws FencedError if this process does not hold the lease now */
  guard(): readonly Check[] {
    if (!this.isActing) throw new FencedError(this.#options.words.fenced);
    return this.fence();
  }

  /** Like {@link guard}, also for a lease that may have expired. @throws FencedError if another process is known to hold it */
  fence(): readonly Check[] {
    if (this.#held === null) throw new FencedError(this.#options.words.fenced);
    return this.#options.leases.guard(this.#held);
  }

  /** After a gap, the old lease is not used before it has been renewed, at once. */
  doubt(): void {
    this.#heldUntil = Number.NEGATIVE_INFINITY;
    this.#pause.abort();
  }

  /** Another process was seen to hold it: it is not used until the store says that it is ours. */
  lose(): void {
    if (this.#held === null) return;
    this.#held = null;
    this.#options.onLost?.();
    this.doubt();
  }

  async #keep(name: string): Promise<void> {
    const { clock, leaseMs } = this.#options;
    const stopped = this.#stopping.signal;
    while (!stopped.aborted) {
      await clock.sleep(leaseMs / RENEWALS_PER_LEASE, this.#pause.signal);
      this.#pause = new AbortController();
      if (!stopped.aborted) await this.#renew(name);
    }
  }

  async #renew(name: string): Promise<void> {
    const { leases, clock, logger, leaseMs, words, spareUntil, onActing, onLost } = this.#options;
    const askedAt = clock.monotonic();
    const wasOurs = this.isOurs;
    try {
      this.#held = await leases.hold(name, this.#owner, leaseMs, {
        isDead: (owner) => this.#isFree(owner),
        spareUntil: spareUntil?.(),
      });
    } catch (error) {
      logger.warn({ err: error }, `the ${this.name} could not be renewed; trying again`);
      return;
    }
    const hadEnded = !this.isActing;
    this.#heldUntil = askedAt + leaseMs;
    // A lease that expired during a stall counts as new: work that was due during the stall was missed.
    const isBegun = this.isActing && (!this.#isAnnounced || hadEnded);
    if (this.#isAnnounced !== this.isActing) logger.info(this.isActing ? words.begins : words.ends);
    this.#isAnnounced = this.isActing;
    if (isBegun) onActing?.();
    if (wasOurs && !this.isOurs) onLost?.();
  }

  /** A killed holder leaves its lease behind; its successor on the host need not wait for the expiry. */
  async #isFree(owner: string): Promise<boolean> {
    const { here, logsFolder, yields } = this.#options;
    if (yields?.(owner) === true) return true;
    try {
      return (await isOwnerAlive(JSON.parse(owner) as ProcessIdentity, here, logsFolder)) === false;
    } catch {
      return false;
    }
  }
}
