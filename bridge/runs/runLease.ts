/**
 * The run's lease, renewed from the process that does the work. Whoever cannot renew it in time ends the run by himself,
 * so that after two leases others may count the run as dead.
 */
import type { Logger } from '../../src/logger.js';
import type { AgentSession } from '../../src/model.js';
import type { Store } from '../../src/store/store.js';
import type { Clock } from '../../src/time.js';

/** Renewals per lease: two may fail before the third decides. */
const RENEWALS_PER_LEASE = 3;

export interface LeaseKeeper {
  readonly session: AgentSession;
  readonly leaseMs: number;
  /** Epoch milliseconds of the agent's last event. */
  lastActivity(): number;
  /** The lane is somebody else's, or could not be renewed in time. */
  onLost(reason: string): void;
  /** Somebody asked for the run's end; the wake that told so may have been lost. */
  onStopRequest(): void;
}

/**
 * Renews until `signal` aborts or the lease is lost. A late timer changes nothing by itself: it renews first, and the
 * compare-and-set tells whether the run is still ours.
 */
export async function keepRunLease(
  store: Store,
  clock: Clock,
  logger: Logger,
  keeper: LeaseKeeper,
  signal: AbortSignal,
): Promise<void> {
  let renewedAt = clock.monotonic();
  while (!signal.aborted) {
    await clock.sleep(keeper.leaseMs / RENEWALS_PER_LEASE, signal);
    if (signal.aborted) return;
    try {
      const isOurs = await store.transitions.renewLease(keeper.session, keeper.leaseMs, keeper.lastActivity());
      if (!isOurs) {
        if (!signal.aborted) keeper.onLost('another process has its lane');
        return;
      }
      renewedAt = clock.monotonic();
      const current = await store.records.session(keeper.session.session_id);
      if (current?.stop !== null && current?.stop !== undefined) keeper.onStopRequest();
    } catch (error) {
      const session_id = keeper.session.session_id;
      logger.warn({ err: error, session_id }, 'the lease of a run could not be renewed; trying again');
      if (clock.monotonic() - renewedAt < keeper.leaseMs) continue;
      keeper.onLost('its lease could not be renewed in time');
      return;
    }
  }
}
