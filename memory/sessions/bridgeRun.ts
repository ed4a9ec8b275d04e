/**
 * Whether a process belongs to a run of a bridge, which sees its own agents itself. The variables that say so are inherited: a service
 * or a terminal's server that an agent has started hands them to everything that a person later starts there. So the run must live, and
 * be above the process.
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { WatchkeeperError } from '../../src/errors.js';
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';
import { RUN_MARK, systemProcessTable } from '../../src/host/processes.js';
import { hasPid } from '../../src/host/procfs.js';
import { isSessionId } from '../../src/ids.js';
import { worklogKind } from '../fold/rules/kind.js';
import { openRuns } from '../fold/runs.js';
import type { Run } from '../fold/worklog.js';
import { Places, worklogIn } from '../home/places.js';
import { Log } from '../logs/log.js';
import type { Surroundings } from './surroundings.js';

const MOST_ANCESTORS = 64;

export type ReadVariable = (name: typeof RUN_MARK | 'WATCHKEEPER_MEMORY' | 'WATCHKEEPER_SESSION') => string | null;

/**
 * @param variable of the process
 * @param here the identity of a process of this host
 * @returns true also if it cannot be seen from here whether the run lives
 */
export function isInBridgeRun(variable: ReadVariable, pid: number, here: ProcessIdentity): boolean {
  const runId = variable(RUN_MARK);
  if (runId === null || runId === '') return false;
  const [memory, session] = [variable('WATCHKEEPER_MEMORY'), variable('WATCHKEEPER_SESSION')];
  const runs = memory && session ? runsIn(memory, session) : null;
  if (runs === 'gone') return false;
  // It is written a moment after its process has started.
  if (runs === null || runs.every(({ run_id }) => run_id !== runId)) return true;
  const going = openRuns(runs).filter(
    ({ run_id, process }) => run_id === runId && isProcessAlive(process, here) !== false,
  );
  return going.some(({ process }) => isProcessAlive(process, here) === null || isAbove(process, pid, here) !== false);
}

export interface OwnSurroundings {
  readonly surroundings: Surroundings;
  /** For the person, that variables of a run do not count. Null if they do, or there are none. */
  readonly left: string | null;
}

/** @returns the surroundings without the variables of a bridge's run that is not above the process: they would lead to its memory */
export function ownSurroundings(surroundings: Surroundings): OwnSurroundings {
  const { variables, process: here } = surroundings;
  const { WATCHKEEPER_RUN: run, WATCHKEEPER_SESSION: session, WATCHKEEPER_MEMORY: _, ...own } = variables;
  if (!run || isInBridgeRun((name) => variables[name] ?? null, here.pid, here)) return { surroundings, left: null };
  const named = isSessionId(session ?? '') ? session : 'a session of a bridge';
  const left = `this shell has inherited WATCHKEEPER_SESSION (${named}) from an agent that is not at work here any more, so it does not count: unset WATCHKEEPER_RUN WATCHKEEPER_SESSION WATCHKEEPER_MEMORY`;
  return { surroundings: { ...surroundings, variables: own }, left };
}

/** @returns null if they cannot be read; `gone` if the session's record was removed, long after its end */
function runsIn(memory: string, session: string): readonly Run[] | 'gone' | null {
  const places = new Places(memory);
  // A sandbox covers the bridge's folder with an empty one.
  if (!existsSync(dirname(places.sessionFolder(session)))) return null;
  try {
    const folder = places.findSession(session);
    return folder === null ? 'gone' : (Log.read(worklogIn(folder), worklogKind)?.state.runs ?? null);
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    return null;
  }
}

/** @returns whether a process is the one with the pid, or above it; null if a process between them cannot be seen */
export function isAbove(process: ProcessIdentity, pid: number, here: ProcessIdentity): boolean | null {
  const table = systemProcessTable();
  for (let at = pid, count = 0; at > 1 && count < MOST_ANCESTORS; count += 1) {
    if (at === process.pid) return isProcessAlive(process, here);
    const found = table.find(at);
    if (found === null) return hasPid(at) ? null : false;
    at = found.parent;
  }
  return false;
}
