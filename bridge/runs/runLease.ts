/** The run's lease. A process that cannot renew it in time ends the run itself: after two leases others may count it as dead. */

import type { AgentSession } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import type { Clock } from '../../src/time.js';

/** Renewals per lease: two may fail before the third decides. */
const RENEWALS_PER_LEASE = 3;

export interface LeaseKeeper {
  readonly session: AgentSession;
  readonly leaseMs: number;
  /** Start of the lease, on the monotonic clock. */
  readonly since: number;
  /** Epoch milliseconds of the agent's last event. */
  lastActivity(): number;
  /**
   * Called when the store names another run or none. @returns whether the store had only forgotten the run, and has it again
   */
  reclaim(): Promise<boolean>;
  /** `lease_lost`: the lane belongs to another run. `self_fenced`: the lease could not be renewed in time. */
  onLost(cause: 'lease_lost' | 'self_fenced'): void;
  /** The run's end was requested, and the wake may have been lost. */
  onStopRequest(): void;
}

/**
 * Renews until it is stopped or the lease is lost. A late timer changes nothing by itself: it renews first, and the
 * compare-and-set shows whether the run is still ours. It waits for an unresponsive store until the lease expires, or for a
 * third of a lease if that has passed already.
 * @returns a function that stops it; no callback is called afterwards
 */
export function keepRunLease(store: Store, clock: Clock, logger: Logger, keeper: LeaseKeeper): () => void {
  const { leaseMs } = keeper;
  let renewedAt = keeper.since;
  let isOver = false;
  const goOn = () => clock.after(leaseMs / RENEWALS_PER_LEASE, () => void renewNow());
  let timer = goOn();
  const renewNow = async () => {
    const askedAt = clock.monotonic();
    const left = Math.max(renewedAt + leaseMs - askedAt, leaseMs / RENEWALS_PER_LEASE);
    const renewal = await within(clock, left, renew(store, logger, keeper));
    if (isOver) return;
    if (renewal === 'taken') return keeper.onLost('lease_lost');
    if (renewal === 'renewed') renewedAt = askedAt;
    else if (clock.monotonic() - renewedAt >= leaseMs) return keeper.onLost('self_fenced');
    timer = goOn();
  };
  return () => {
    isOver = true;
    timer.cancel();
  };
}

type Renewal = 'renewed' | 'taken' | 'unknown';

async function renew(store: Store, logger: Logger, keeper: LeaseKeeper): Promise<Renewal> {
  const { session_id } = keeper.session;
  try {
    const isHeld = await store.transitions.renewLease(keeper.session, keeper.leaseMs, keeper.lastActivity());
    if (!isHeld && !(await keeper.reclaim())) return 'taken';
  } catch (error) {
    logger.warn({ err: error, session_id }, `session ${session_id}: the lease of its run could not be renewed`);
    return 'unknown';
  }
  try {
    const stop = (await store.records.session(session_id))?.stop ?? null;
    if (stop !== null) keeper.onStopRequest();
  } catch (error) {
    logger.warn({ err: error, session_id }, `session ${session_id}: stop requests for its run could not be read`);
  }
  return 'renewed';
}

/** Uses a timer that keeps no process alive. */
function within(clock: Clock, limitMs: number, renewal: Promise<Renewal>): Promise<Renewal> {
  return new Promise((resolve) => {
    const late = clock.after(limitMs, () => resolve('unknown'));
    void renewal.then((known) => {
      late.cancel();
      resolve(known);
    });
  });
}
