/**
 * A lease that a process keeps for as long as it runs: renewed three times per lease, begun anew after a gap, given back at
 * the end. Its fencing number stands in every commit of whoever acts by it.
 */

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
  /** At the start, while another process holds it. */
  readonly standsBy: string;
  readonly begins: string;
  readonly ends: string;
  /** Why a commit is refused. */
  readonly fenced: string;
}

export interface KeptLeaseOptions {
  /** As the log calls it: `watchdog lease`. */
  readonly name: string;
  /** Its name in the store. */
  leaseName(): Promise<string>;
  readonly words: LeaseWords;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs: number;
  /** This process: others on the host see whether it lives. */
  readonly here: ProcessIdentity;
  /** What else those who take turns may know of the holder: stored in the lease with it. */
  readonly marks?: Readonly<Record<string, boolean>>;
  /** Shared with those who take turns: life signs are looked for there. */
  readonly logsFolder: string;
  /** Until this instant a lease of another that is over is left to it, epoch milliseconds. */
  spareUntil?(): number;
  /** @returns whether this holder has to give way to this process; by the owner that stands in the lease */
  yields?(owner: string): boolean;
  /** Called when this process begins to act. */
  onActing?(): void;
  /** Called when the lease turns out to be another's. */
  onLost?(): void;
}

export class KeptLease implements Service {
  readonly name: string;
  readonly #options: KeptLeaseOptions;
  readonly #owner: string;
  #held: HeldLease | null = null;
  /** On the monotonic clock: a stepping wall clock must not lengthen it. */
  #heldUntil = 0;
  /** What the log and {@link KeptLeaseOptions.onActing} were told last. */
  #isAnnounced = false;
  #keeping: Promise<void> | null = null;
  /** Aborted to renew before the time, and to stop. */
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

  /** As far as the store has told: it may be over by now, and nobody have taken it. */
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

  /** Gives the lease back, so that nobody need wait for its end. */
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

  /**
   * @returns the checks that a commit of the holder carries
   * @throws FencedError where this process does not hold the lease now
   */
  guard(): readonly Check[] {
    if (!this.isActing) throw new FencedError(this.#options.words.fenced);
    return this.fence();
  }

  /**
   * As {@link guard}, also where the lease may be over: as long as nobody has taken it, the number still fits.
   * @throws FencedError where the store has said that another process holds it
   */
  fence(): readonly Check[] {
    if (this.#held === null) throw new FencedError(this.#options.words.fenced);
    return this.#options.leases.guard(this.#held);
  }

  /** After a gap nothing is done by a lease of before: it is renewed first, at once. */
  doubt(): void {
    this.#heldUntil = Number.NEGATIVE_INFINITY;
    this.#pause.abort();
  }

  /** Somebody else was seen to have it: nothing is done by it until the store says that it is ours. */
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
      this.#held = await leases.hold(name, this.#owner, leaseMs, (owner) => this.#isFree(owner), spareUntil?.());
    } catch (error) {
      logger.warn({ err: error }, `the ${this.name} could not be renewed; trying again`);
      return;
    }
    const hadEnded = !this.isActing;
    this.#heldUntil = askedAt + leaseMs;
    // A lease that ended during a stall is begun anew: what was due meanwhile was passed over.
    const isBegun = this.isActing && (!this.#isAnnounced || hadEnded);
    if (this.#isAnnounced !== this.isActing) logger.info(this.isActing ? words.begins : words.ends);
    this.#isAnnounced = this.isActing;
    if (isBegun) onActing?.();
    if (wasOurs && !this.isOurs) onLost?.();
  }

  /** A holder that was killed leaves its lease behind; its successor on the host need not wait for the end of it. */
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
