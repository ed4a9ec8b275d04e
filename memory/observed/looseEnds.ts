/** The unfinished parts of an agent's work, as it was last seen. */
import { hasReportedEnd } from '../fold/runs.js';
import { isUndeclared, mayHaveBeenAsked } from '../fold/unused.js';
import type { Worklog } from '../fold/worklog.js';
import { filesInHand, isAtWork } from './inHand.js';
import type { Observed } from './observed.js';

/** As `state.json` has it. */
export interface LooseEnds {
  /** The agent owed an answer, or a sub-agent of it was at work. */
  readonly turn: boolean;
  /** A person stopped its last turn in the middle of the work, and asked nothing since. */
  readonly stopped: boolean;
  /** Its last turn is known to have ended, or nothing shows that it ever had one. */
  readonly answered: boolean;
  /** The agent owed an answer when its program reported its end. */
  readonly cut_off: boolean;
  /** How many files were in progress, or were touched in a turn that did not end. */
  readonly files: number;
  /** How many of them belong to a turn of an earlier conversation, which no later turn has resumed. */
  readonly abandoned_files: number;
  /** The last call failed, or the last answer of the model did. */
  readonly failed: boolean;
  /** A person or an agent declared something of the work. */
  readonly declared: boolean;
}

/** @param fold null if nothing was observed */
export function looseEndsOf(log: Worklog, fold: Observed | null): LooseEnds {
  const working = [...log.files].flatMap(([path, { status }]) => (status === 'working' ? [path] : []));
  const abandoned = new Set(fold?.leftTurns.flatMap(({ files }) => files) ?? []);
  // A conversation that has moved to another session took its open turn along.
  const turn = fold !== null && isAtWork(fold) && hasConversation(log);
  const touched = turn ? filesInHand(fold) : [];
  const run = log.runs.at(-1);
  return {
    turn,
    stopped: !turn && fold?.isStopped === true && hasConversation(log),
    answered: fold === null ? !mayHaveBeenAsked(log) : !isAtWork(fold) && fold.idleAt !== null,
    // A bridge decides itself what becomes of a run that it has ended.
    cut_off: turn && run !== undefined && hasReportedEnd(run) && run.run_id === null,
    files: new Set([...working, ...abandoned, ...touched]).size,
    abandoned_files: abandoned.size,
    failed: fold !== null && (fold.actions.at(-1)?.outcome === 'failed' || fold.lastTurnEnd === 'error'),
    declared: log.facts?.explicit === true || !isUndeclared(log),
  };
}

function hasConversation({ conversations }: Worklog): boolean {
  return conversations.length === 0 || conversations.some(({ moved_at }) => moved_at === null);
}
