/**
 * `backlog`: the head of a lane waits for more than ten minutes though no run holds the lane, or though no worker is alive. A
 * host that is busy with other lanes is mentioned but excuses nothing: a waiting person does not care about the reason.
 */
import type { Finding } from '../../../src/jobs/findings.js';
import { clockTime, describeDuration, isoTime } from '../../../src/time.js';
import { lastingReason } from './reasons.js';

/** The session that is next in its lane; instants in UTC epoch milliseconds. */
export interface WaitingHead {
  readonly sessionId: string;
  readonly projectKey: string;
  readonly lane: string;
  /** The directory where it would run. */
  readonly folder: string;
  /** Or, if that is later, the end of the last gap of the watchdog or of the provider's limit. */
  readonly acceptedAt: number;
  readonly isLaneHeld: boolean;
  /** Only known on its own host. */
  readonly isFolderMissing: boolean;
  /** Since when no run holds the lane; null if none ever did. */
  readonly laneFreeSince: number | null;
}

/** The known state of the worker that serves the lane's host. */
export type WorkerState =
  | { readonly kind: 'gone'; readonly lastSeen: number | null }
  /** The bridge is present, but its worker takes no jobs, not even canaries. */
  | { readonly kind: 'deaf'; readonly tookJobAt: number | null }
  | { readonly kind: 'busy' }
  /** The bridge is being stopped: its runs may finish, and it starts nothing. */
  | { readonly kind: 'draining' }
  | { readonly kind: 'free' };

/** @returns the first instant at which the rule holds for the head without further events; null if a run holds its lane */
export function backlogFrom(head: WaitingHead, worker: WorkerState, limitMs: number): number | null {
  if (head.isLaneHeld && worker.kind !== 'gone') return null;
  return countedFrom(head, worker) + limitMs + 1;
}

export interface BacklogAt {
  readonly host: string;
  readonly worker: WorkerState;
  /** How long a head may wait. */
  readonly limitMs: number;
  /** UTC epoch milliseconds. */
  readonly now: number;
}

/** @param heads those for which the rule holds and that wait for the same cause, at least one */
export function findBacklog(heads: readonly WaitingHead[], { host, worker, limitMs, now }: BacklogAt): Finding {
  const longest = longestWaiting(heads, worker);
  const since = countedFrom(longest, worker);
  const waitedMs = now - since;
  const others = heads.length === 1 ? [] : [`the next messages of ${heads.length} folders wait as well`];
  return {
    rule: 'backlog',
    reason: lastingReason('waiting', waitedMs),
    since: isoTime(since + limitMs + 1),
    evidence: [
      `the next message for a folder has been waiting for ${describeDuration(waitedMs)} since ${clockTime(since)} (limit ${describeDuration(limitMs)})`,
      describeCause(worker, host, longest),
      ...others,
    ],
    waits_considered: [],
    clock: { agent: null, unit: 'ms', value: waitedMs, limit: limitMs, counted_from: isoTime(since) },
  };
}

/** @returns the head that shows it best */
export function longestWaiting(heads: readonly WaitingHead[], worker: WorkerState): WaitingHead {
  const [longest] = heads.toSorted((left, right) => countedFrom(left, worker) - countedFrom(right, worker));
  if (longest === undefined) throw new RangeError('a backlog needs at least one head');
  return longest;
}

/** A message behind a run waits in vain only from the instant at which the worker that should end that run is gone. */
function countedFrom({ acceptedAt, laneFreeSince, isLaneHeld }: WaitingHead, worker: WorkerState): number {
  if (!isLaneHeld) return Math.max(acceptedAt, laneFreeSince ?? acceptedAt);
  return Math.max(acceptedAt, worker.kind === 'gone' ? (worker.lastSeen ?? acceptedAt) : acceptedAt);
}

function describeCause(worker: WorkerState, host: string, { isLaneHeld, isFolderMissing }: WaitingHead): string {
  switch (worker.kind) {
    case 'gone': {
      const { lastSeen } = worker;
      const spoke =
        lastSeen === null ? 'no bridge has ever reported' : `its bridge last reported at ${clockTime(lastSeen)}`;
      return `no worker is alive on ${host}: ${spoke}`;
    }
    case 'deaf': {
      const { tookJobAt } = worker;
      const took = tookJobAt === null ? 'has taken no job yet' : `took its last job at ${clockTime(tookJobAt)}`;
      return `the bridge on ${host} is running, but its worker ${took}`;
    }
    case 'busy':
      return `all workers on ${host} are busy: the maximum number of agents is running`;
    case 'draining':
      return `the bridge on ${host} is shutting down: its runs may finish, and it starts nothing new`;
    case 'free':
      if (isFolderMissing) return `that folder is missing on ${host}: the message starts when it is back`;
      return isLaneHeld
        ? 'an agent works in that folder'
        : `no agent works in that folder, and a worker on ${host} is free`;
    default:
      return worker satisfies never;
  }
}
