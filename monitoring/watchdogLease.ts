/**
 * Which watchdog acts. One lease per logs folder, whose id stands in a file there: processes that share the folder take
 * turns, hosts with folders of their own have watchdogs of their own. The fencing number stands in every commit.
 */
import { FencedError } from '../src/errors.js';
import { isOwnerAlive } from '../src/host/lifeSign.js';
import { ulid } from '../src/ids.js';
import type { Logger } from '../src/logger.js';
import { ensureLogsFolderId } from '../src/logsFolder.js';
import type { ProcessIdentity } from '../src/model.js';
import type { Service } from '../src/service.js';
import type { Guard } from '../src/store/incidentTransitions.js';
import type { HeldLease, Leases } from '../src/store/leases.js';
import type { Clock } from '../src/time.js';

const RENEWALS_PER_LEASE = 3;

export interface WatchdogLeaseOptions {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logsFolder: string;
  readonly leaseMs: number;
  /** This process: others on the host see whether it lives. */
  readonly here: ProcessIdentity;
  /** The end of the last time in which this process was away, epoch milliseconds; minus infinity without one. */
  readonly backSince: () => number;
  /** Called when this process begins to act. */
  readonly onActing: () => void;
}

export class WatchdogLease implements Service {
  readonly name = 'watchdog lease';
  readonly #options: WatchdogLeaseOptions;
  readonly #owner: string;
  #held: HeldLease | null = null;
  /** On the monotonic clock: a stepping wall clock must not lengthen it. */
  #heldUntil = 0;
  /** What the log and {@link WatchdogLeaseOptions.onActing} were told last. */
  #isAnnounced = false;
  #keeping: Promise<void> | null = null;
  /** Aborted to renew before the time, and to stop. */
  #pause = new AbortController();
  #stopping = new AbortController();

  constructor(options: WatchdogLeaseOptions) {
    this.#options = options;
    this.#owner = JSON.stringify({ ...options.here, id: ulid(options.clock) });
  }

  get isActing(): boolean {
    return this.#held !== null && this.#options.clock.monotonic() < this.#heldUntil;
  }

  async start(): Promise<void> {
    if (this.#keeping !== null) return;
    this.#stopping = new AbortController();
    const name = await this.#leaseName();
    await this.#renew(name);
    if (!this.isActing) this.#options.logger.info('another watchdog acts for this logs folder; this one stands by');
    this.#keeping = this.#keep(name);
  }

  /** Gives the lease back, so that a standby need not wait for its end. */
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
   * @returns the checks that a commit of the acting watchdog carries
   * @throws FencedError where this process does not hold the lease now
   */
  guard(): Guard {
    if (this.#held === null || !this.isActing) throw new FencedError('another watchdog acts for this logs folder now');
    return [this.#options.leases.guard(this.#held)];
  }

  /** After a gap nothing is done by a lease of before: it is renewed first, at once. */
  doubt(): void {
    this.#heldUntil = Number.NEGATIVE_INFINITY;
    this.#pause.abort();
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
    const { leases, clock, logger, leaseMs, here, logsFolder, backSince, onActing } = this.#options;
    // Where this process was away, the holder may have been as well: it has a lease of time to come back.
    const spareUntil = backSince() + leaseMs;
    const askedAt = clock.monotonic();
    const isHolderDead = (owner: string) => isDead(owner, here, logsFolder);
    try {
      this.#held = await leases.hold(name, this.#owner, leaseMs, isHolderDead, spareUntil);
    } catch (error) {
      logger.warn({ err: error }, 'the watchdog lease could not be renewed; trying again');
      return;
    }
    const hadEnded = !this.isActing;
    this.#heldUntil = askedAt + leaseMs;
    // A lease that ended during a stall is begun anew: what was due meanwhile was passed over.
    const isBegun = this.isActing && (!this.#isAnnounced || hadEnded);
    if (this.#isAnnounced !== this.isActing) {
      logger.info(this.isActing ? 'this watchdog acts now' : 'another watchdog acts; this one observes');
    }
    this.#isAnnounced = this.isActing;
    if (isBegun) onActing();
  }

  async #leaseName(): Promise<string> {
    const { logsFolder, clock } = this.#options;
    return `watchdog:${await ensureLogsFolderId(logsFolder, clock)}`;
  }
}

/** A holder that was killed leaves its lease behind; its successor on the host need not wait for the end of it. */
async function isDead(owner: string, here: ProcessIdentity, logsFolder: string): Promise<boolean> {
  try {
    return (await isOwnerAlive(JSON.parse(owner) as ProcessIdentity, here, logsFolder)) === false;
  } catch {
    return false;
  }
}
