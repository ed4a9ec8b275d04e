/** A named lease with a fencing number that grows with every holder; each commit checks it, so that two holders never both act. */
import type { Redis } from 'ioredis';
import { FencedError } from '../errors.js';
import type { Clock } from '../time.js';
import { applyCommit, type Check } from './commit.js';

export interface HeldLease {
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
  /** UTC epoch milliseconds. */
  readonly until: number;
}

export interface HoldOptions {
  /** Whether a holder is proven dead, so that no process need wait for the lease's expiry. */
  isDead?(owner: string): boolean | Promise<boolean>;
  /** Until then another process's expired lease is also left to it, epoch milliseconds. */
  readonly spareUntil?: number | undefined;
}

export class Leases {
  protected readonly redis: Redis;
  protected readonly keys: { lease(name: string): string };
  protected readonly clock: Clock;

  constructor(redis: Redis, keys: { lease(name: string): string }, clock: Clock) {
    this.redis = redis;
    this.keys = keys;
    this.clock = clock;
  }

  /** Takes the lease if it is free or expired; extends it if `owner` holds it. @returns null while another process holds it */
  async hold(
    name: string,
    owner: string,
    leaseMs: number,
    { isDead = () => false, spareUntil = Number.NEGATIVE_INFINITY }: HoldOptions = {},
  ): Promise<HeldLease | null> {
    const current = await this.read(name);
    const now = this.clock.now();
    const isAnothers = current !== null && current.owner !== owner && current.owner !== '';
    const isTaken = isAnothers && Math.max(current.until, spareUntil) > now;
    if (isTaken && !(await isDead(current.owner))) {
      await this.#bound(current, now + leaseMs);
      return null;
    }
    const isRenewal = current?.owner === owner;
    const fence = isRenewal ? current.fence : (current?.fence ?? 0) + 1;
    const next: HeldLease = { name, owner, fence, until: now + leaseMs };
    const key = this.keys.lease(name);
    const seen = (field: 'fence' | 'owner' | 'until'): Check => {
      return { read: ['HGET', key, field], equals: current === null ? null : String(current[field]) };
    };
    const applied = await applyCommit(this.redis, {
      at: isRenewal ? 'lease' : 'take_lease',
      checks: [seen('fence'), seen('owner'), seen('until')],
      writes: [['HSET', key, 'owner', owner, 'fence', String(fence), 'until', String(next.until)]],
    });
    if (applied) return next;
    // If the reply to a first try was lost and the connection repeated it, the lease is ours.
    const found = await this.read(name);
    return found?.owner === owner && found.until > now ? found : null;
  }

  /** A lease from before a clock was set back lasts too long. A holder that lives renews it; a dead one must not keep it. */
  async #bound({ name, owner, fence, until }: HeldLease, latest: number): Promise<void> {
    if (until <= latest) return;
    const key = this.keys.lease(name);
    const isSame = this.guard({ name, owner, fence, until });
    const checks = [...isSame, { read: ['HGET', key, 'until'], equals: String(until) } as const];
    await applyCommit(this.redis, { checks, writes: [['HSET', key, 'until', String(latest)]] });
  }

  /** Releases the lease, so that the next holder need not wait for its expiry. The fencing number stays. */
  async giveBack(lease: HeldLease): Promise<void> {
    await applyCommit(this.redis, {
      checks: this.guard(lease),
      writes: [['HSET', this.keys.lease(lease.name), 'owner', '', 'until', '0']],
    });
  }

  async read(name: string): Promise<HeldLease | null> {
    const fields = await this.redis.hgetall(this.keys.lease(name));
    if (fields.fence === undefined) return null;
    return { name, owner: fields.owner ?? '', fence: Number(fields.fence), until: Number(fields.until ?? 0) };
  }

  /** For actions of the holder that store no commit. @throws FencedError if another process holds the lease now */
  async require(checks: readonly Check[]): Promise<void> {
    if (checks.length === 0 || (await applyCommit(this.redis, { checks, writes: [] }))) return;
    throw new FencedError('another process has the lease now');
  }

  /** Checks the owner as well as the number: a Redis that lost its last moment issues the same number again. */
  guard({ name, fence, owner }: HeldLease): Check[] {
    const key = this.keys.lease(name);
    return [
      { read: ['HGET', key, 'fence'], equals: String(fence) },
      { read: ['HGET', key, 'owner'], equals: owner },
    ];
  }
}
