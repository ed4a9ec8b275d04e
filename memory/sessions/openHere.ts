/** The sessions of a workspace that have not ended, as their worklogs alone show them. */
import type { Runs, RunsOf } from '../fold/runs.js';
import type { Run } from '../fold/worklog.js';
import type { Claims } from '../workspaces/claims.js';
import type { Workspace } from '../workspaces/workspace.js';
import { mayHold } from './lifecycle.js';
import type { OpenSession, Sessions } from './sessions.js';

/**
 * `lost`: the process of its agent is gone, and its end is not written. `at_work`: an agent of this host may be at work on it.
 * `elsewhere`: its agent ran on another host. `left`: no agent works on it.
 */
export type Manning = 'lost' | 'at_work' | 'elsewhere' | 'left';

/** As it was when it was looked at. */
export interface OpenHere extends OpenSession {
  readonly manning: Manning;
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
 * @returns those that have not ended and are not in the archive, the earliest begun first
 */
export function openIn(memory: Looking, workspace: Workspace, except: string | null = null): OpenHere[] {
  const ids = [...(memory.claims.read(workspace)?.sessions ?? [])];
  return ids.flatMap((id) => (id === except || memory.sessions.endsEnded(id) ? [] : openOne(memory, id)));
}

/** @returns nothing if it has ended, is in the archive, is gone, or cannot be read */
export function openOne(memory: Pick<Looking, 'look' | 'runsOf'>, id: string): OpenHere[] {
  const session = memory.look(id);
  if (session === null || !mayHold(session.log.state)) return [];
  return [{ ...session, manning: manningOf(memory.runsOf(session.log.state)) }];
}

function manningOf(runs: Runs<Run>): Manning {
  if (runs.isLost) return 'lost';
  if (runs.goingHere.length > 0) return 'at_work';
  return runs.elsewhere === null ? 'left' : 'elsewhere';
}

/** @returns first those whose agent is lost and whose record no agent was given, then the others; each the last begun first */
export function mostUrgentFirst(sessions: readonly OpenHere[]): OpenHere[] {
  const newest = sessions.toReversed();
  const isUrgent = ({ manning, log }: OpenHere) => manning === 'lost' && log.state.told === null;
  return [...newest.filter(isUrgent), ...newest.filter((session) => !isUrgent(session))];
}
