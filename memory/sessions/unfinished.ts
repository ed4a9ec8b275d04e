/** The sessions of a workspace that its next agent, or a person, may have to resume. */

import type { Runs, RunsOf } from '../fold/runs.js';
import type { Run } from '../fold/worklog.js';
import type { Claims } from '../workspaces/claims.js';
import type { Workspace } from '../workspaces/workspace.js';
import { mayHold } from './lifecycle.js';
import type { OpenSession, Sessions } from './sessions.js';

/**
 * `crashed`: its agent died, and its end is not written. `at_work`: an agent of this host may be at work on it. `elsewhere`: its agent
 * ran on another host. `resting`: no agent works on it.
 */
export type UnfinishedReason = 'crashed' | 'at_work' | 'elsewhere' | 'resting';

/** As it was when it was looked at. */
export interface UnfinishedSession extends OpenSession {
  readonly reason: UnfinishedReason;
}

/** A caller's view of the sessions of a memory. */
interface Looking {
  readonly claims: Pick<Claims, 'read'>;
  readonly sessions: Pick<Sessions, 'endsEnded'>;
  look(id: string): OpenSession | null;
  runsOf(log: RunsOf): Runs;
}

/**
 * @param except the id of a session that is left out
 * @param most how many of the sessions that began last are looked at, ended ones included
 * @returns those that have not ended and are not in the archive, the earliest begun first
 */
export function unfinishedIn(
  memory: Looking,
  workspace: Workspace,
  { except = null, most = Number.POSITIVE_INFINITY }: { readonly except?: string | null; readonly most?: number } = {},
): UnfinishedSession[] {
  const ids = [...(memory.claims.read(workspace)?.sessions ?? [])];
  return ids.slice(Math.max(0, ids.length - most)).flatMap((id) => {
    const session = id === except || memory.sessions.endsEnded(id) ? null : memory.look(id);
    if (session === null || !mayHold(session.log.state)) return [];
    return [{ ...session, reason: reasonOf(memory.runsOf(session.log.state)) }];
  });
}

function reasonOf(runs: Runs<Run>): UnfinishedReason {
  if (runs.isLost) return 'crashed';
  if (runs.goingHere.length > 0) return 'at_work';
  return runs.elsewhere === null ? 'resting' : 'elsewhere';
}

/** @returns whether it crashed, and neither an agent nor a person has been shown so */
export function isUnreportedCrash({ reason, log }: Partial<UnfinishedSession> & Pick<OpenSession, 'log'>): boolean {
  return reason === 'crashed' && log.state.reported_at === null;
}

/** @returns first those that crashed unnoticed, then the others, each the last begun first */
export function mostUrgentFirst(sessions: readonly UnfinishedSession[]): UnfinishedSession[] {
  const newest = sessions.toReversed();
  return [...newest.filter(isUnreportedCrash), ...newest.filter((session) => !isUnreportedCrash(session))];
}
