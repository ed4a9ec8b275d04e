/**
 * How a session is: one value, which every surface reads. Nothing of it is stored, because it depends on this host and on the time.
 */
import { programNamed } from '../../src/agents/programs.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { type FreshnessHours, freshnessOf, isStateStale, type StateCheck } from '../fold/freshness.js';
import { type Ran, Runs, type RunsOf } from '../fold/runs.js';
import type { Progress } from '../fold/state.js';
import type { Worklog } from '../fold/worklog.js';
import type { LooseEnds } from '../observed/looseEnds.js';
import type { EndReason, Freshness, Lifecycle, Liveness } from '../words.js';
import type { Damage } from './damage.js';
import { judgedInWait, type PublishedWait } from './publishedWait.js';
import {
  type BrokenRule,
  brokenNow,
  type Doing,
  excusedUntil,
  type Judged,
  type Quiet,
  type Stuck,
  stuckOf,
} from './stuck.js';
import { type Weight, weightOf } from './weight.js';

/**
 * `crashed`: its process is gone, and its end is not written. `cut_off`: its end is written, and it owed an answer then. `ended`: its end
 * is written, or nothing was ever asked of it. `elsewhere`: it is of another host. `unknown`: what it does cannot be seen. `none`: no
 * agent is known.
 */
export type AgentCondition = Doing | 'crashed' | 'cut_off' | 'ended' | 'elsewhere' | 'unknown' | 'none';

/** The part of a session's record that its condition follows from. */
export interface Recorded extends RunsOf<Ran>, Pick<Worklog, 'notices' | 'ping'> {
  readonly end: EndReason | null;
  readonly archived: boolean;
  readonly progress: Progress;
  /** Declared or observed, UTC epoch milliseconds. */
  readonly last_activity: number | null;
  readonly acknowledged_at: number | null;
  /** It began by itself, and nothing was asked or declared in it. */
  readonly isUnused: boolean;
  /** Nothing of it can be seen, so that something may have been asked. */
  readonly isUnseen: boolean;
  /** The agent waits for a person or the model, as far as the worklog knows. */
  readonly isWaiting: boolean;
  readonly looseEnds: LooseEnds;
  readonly damage: Damage;
}

/** The host, the time and the judge of a look at a session. */
export interface Viewpoint {
  /** The identity of a process of this host. */
  readonly here: ProcessIdentity;
  /** UTC epoch milliseconds. */
  readonly now: number;
  readonly hours: FreshnessHours;
  /** Null if there is no judge. */
  readonly judged: Judged | null;
  /** Null if its program does not publish that it waits for a person. */
  readonly wait?: PublishedWait | null;
}

export interface Condition {
  readonly lifecycle: Lifecycle;
  readonly end: EndReason | null;
  readonly archived: boolean;
  readonly agent: AgentCondition;
  /** Null if nothing of its work can be seen, or it crashed. */
  readonly doing: Doing | null;
  /** The dialog that its program publishes. Null if it publishes none. */
  readonly wait: PublishedWait | null;
  /** Whether the process of the present run lives. */
  readonly liveness: Liveness;
  /** Whether the end of the present run is written. */
  readonly run_ended: boolean;
  readonly stuck: Stuck | null;
  /** Rules that are broken now, by the judge; the leading one first. */
  readonly broken: readonly BrokenRule[];
  /** Until when silence is excused, UTC epoch milliseconds. Null if it is not. */
  readonly excused_until: number | null;
  readonly freshness: Freshness;
  readonly check: StateCheck;
  readonly progress: Progress;
  /** Its heaviest unfinished part. */
  readonly weight: Weight;
  /** A person stopped its agent at work. */
  readonly stopped: boolean;
  readonly damage: Damage;
  /** Null if there is no judge. */
  readonly quiet: Quiet | null;
}

export function conditionOf(
  recorded: Recorded,
  { here, now, hours, judged: unaware, wait = null }: Viewpoint,
): Condition {
  const judged = judgedInWait(unaware, wait);
  const { lifecycle, end, archived, progress, damage, isUnused, isUnseen } = recorded;
  const runs = new Runs(recorded, here);
  const mayWork = mayBeAtWork(recorded, runs);
  const broken = brokenNow({ mayWork, judged }, { isUnseen: runs.liveness === 'unknown', now });
  const isCrashed = runs.isLost && (!isUnused || isUnseen) && !endedInPeace(recorded, runs, here);
  const doing = isCrashed ? null : doingOf(recorded, mayWork, { judged, wait });
  const last = lastActive(recorded);
  const agent = isCrashed ? 'crashed' : agentOf(recorded, runs, doing);
  return {
    lifecycle,
    end,
    archived,
    agent,
    doing,
    wait: doing === 'waiting' ? wait : null,
    liveness: runs.liveness,
    run_ended: runs.hasEnded,
    stuck: stuckOf(recorded, { mayWork, judged }, broken, now),
    broken,
    excused_until: excusedUntil(recorded, now),
    freshness: freshnessOf(last, now, hours),
    check: isStateStale(last, now, hours),
    progress,
    weight: isOpenSession(recorded)
      ? weightOf(agent === 'crashed' || agent === 'cut_off' ? agent : null, progress, recorded.looseEnds)
      : 'rests',
    stopped: recorded.looseEnds.stopped,
    damage,
    quiet: judged?.quiet ?? null,
  };
}

/** @returns the last activity or acknowledgement, UTC epoch milliseconds. Null if there was none */
export function lastActive({
  last_activity,
  acknowledged_at,
}: Pick<Recorded, 'last_activity' | 'acknowledged_at'>): number | null {
  return Math.max(last_activity ?? 0, acknowledged_at ?? 0) || null;
}

/** @returns whether an agent may be at work: the session is open, and no run is known or the present one is going */
export function mayBeAtWork(
  { lifecycle, archived }: Pick<Recorded, 'lifecycle' | 'archived'>,
  { mayWork }: Pick<Runs<Ran>, 'mayWork'>,
): boolean {
  return isOpenSession({ lifecycle, archived }) && mayWork;
}

/** @returns whether it has not ended, and is not in the archive */
export function isOpenSession({ lifecycle, archived }: Pick<Recorded, 'lifecycle' | 'archived'>): boolean {
  return lifecycle !== 'ended' && !archived;
}

/**
 * When a host is started again, all windows are gone, and some programs do not report that their terminal was closed. One that had
 * answered then, and had nothing else to do, is no crash.
 */
function endedInPeace({ progress, looseEnds }: Recorded, { present }: Runs<Ran>, here: ProcessIdentity): boolean {
  if (present === null) return false;
  const mayGoSilently =
    present.process.boot_id !== here.boot_id || programNamed(present.agent)?.reportsClosedWindow === false;
  return mayGoSilently && looseEnds.answered && weightOf('crashed', progress, looseEnds) === 'crashed';
}

function doingOf(
  { lifecycle, isWaiting, isUnused, isUnseen }: Recorded,
  mayWork: boolean,
  { judged, wait }: Required<Pick<Viewpoint, 'judged' | 'wait'>>,
): Doing | null {
  if (!mayWork || lifecycle === 'planned') return 'idle';
  if (wait !== null) return 'waiting';
  // A window in which nothing was asked yet has no transcript that could be judged.
  return judged?.doing ?? (isWaiting ? 'waiting' : isUnused && !isUnseen ? 'idle' : null);
}

function agentOf({ lifecycle, looseEnds }: Recorded, runs: Runs<Ran>, doing: Doing | null): AgentCondition {
  const isCutOff = looseEnds.cut_off || (runs.hasVanished && looseEnds.turn);
  if (runs.hasEnded && lifecycle !== 'ended' && isCutOff) return 'cut_off';
  // One that is lost, and did not crash, had nothing to do.
  if (runs.hasEnded || lifecycle === 'ended' || runs.isLost) return 'ended';
  if (runs.elsewhere !== null) return 'elsewhere';
  if (runs.present === null && (doing === null || lifecycle === 'planned')) return 'none';
  return doing ?? 'unknown';
}
