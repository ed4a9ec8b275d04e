/**
 * The processes of this host, and which of them belong to a run.
 *
 * Every process of a run carries `WATCHKEEPER_RUN={run id}` in the environment that it was started with, and a limit of its
 * own (marks.ts). Children inherit both through process groups and sessions of their own, which is why neither of those
 * is proof of anything. The environment is lost where a program empties it, or writes its title over it, as servers do; the
 * limit where this host has no program that sets it, or an agent changes it on purpose.
 *
 * Limits: a process without either mark is only found through its parents, its group or its session.
 */
import { holdsEntry, limitMarkOf, valueIn } from './marks.js';
import { listPids, newReadBuffer, readEnvironment, readLocksLimit, readStat, showsOwnNamespace } from './procfs.js';
import { psTable } from './ps.js';
import type { HostProcess, ProcessTable, Snapshot } from './table.js';

/** The variable that marks every process of a run. */
export const RUN_MARK = 'WATCHKEEPER_RUN';
/** The variable that says in which lane a run works, and for which Watchkeeper. */
export const LANE_MARK = 'WATCHKEEPER_LANE';

/** @returns the value of {@link LANE_MARK} */
export function laneMark(logsId: string, lane: string): string {
  return `${logsId}:${lane}`;
}

/** @returns what this host offers: `/proc`, else `ps` */
export function systemProcessTable(): ProcessTable {
  return showsOwnNamespace() ? procTable : psTable;
}

/**
 * @returns the living processes that carry the run's mark; `complete` where their absence is proof: the host shows marks,
 *   nothing moved while it was read, and no process that might be the run's could not be read
 */
export function findMarkedProcesses(
  runId: string,
  table: ProcessTable = systemProcessTable(),
): { readonly processes: readonly HostProcess[]; readonly complete: boolean } {
  const snapshot = table.snapshot(runId);
  const marked = new Set(snapshot.marked.map((found) => found.pid));
  const doubtful = snapshot.unreadable.some((found) => hasAncestor(snapshot, found, marked));
  return { processes: snapshot.marked, complete: snapshot.showsMarks && snapshot.settled && !doubtful };
}

export interface MarkedRun {
  readonly runId: string;
  readonly lane: string;
}

/**
 * @param logsId whose runs are looked for
 * @returns those that have living processes, as far as this host shows marks; `settled` where nothing moved while it was read
 */
export function findMarkedRuns(logsId: string): { readonly runs: readonly MarkedRun[]; readonly settled: boolean } {
  if (!showsOwnNamespace()) return { runs: [], settled: true };
  const prefix = laneMark(logsId, '');
  const buffer = newReadBuffer();
  const runs = new Map<string, MarkedRun>();
  let settled = true;
  for (const pid of listPids()) {
    const stat = readStat(pid, buffer);
    if (stat === 'zombie' || stat === 'kernel') continue;
    const environment = stat === 'gone' ? 'unknown' : readEnvironment(pid, buffer);
    if (environment === 'unknown') settled = false;
    if (typeof environment === 'string') continue;
    const mark = valueIn(environment, LANE_MARK);
    const runId = mark?.startsWith(prefix) ? valueIn(environment, RUN_MARK) : null;
    if (mark !== null && runId !== null) runs.set(runId, { runId, lane: mark.slice(prefix.length) });
  }
  return { runs: [...runs.values()], settled };
}

function hasAncestor(snapshot: Snapshot, found: HostProcess, ancestors: ReadonlySet<number>): boolean {
  const seen = new Set<number>();
  for (let at = snapshot.living.get(found.parent); at !== undefined; at = snapshot.living.get(at.parent)) {
    if (ancestors.has(at.pid)) return true;
    if (seen.has(at.pid)) return false;
    seen.add(at.pid);
  }
  return false;
}

const procTable: ProcessTable = {
  snapshot(runId, onMarked) {
    const living = new Map<number, HostProcess>();
    const marked: HostProcess[] = [];
    const unreadable: HostProcess[] = [];
    const buffer = newReadBuffer();
    const wanted = Buffer.from(`${RUN_MARK}=${runId}`);
    const wantedLimit = limitMarkOf(runId);
    let settled = true;
    for (const pid of listPids()) {
      const stat = readStat(pid, buffer);
      if (stat === 'zombie' || stat === 'kernel') continue;
      const environment = stat === 'gone' ? 'unknown' : readEnvironment(pid, buffer);
      if (stat === 'gone' || environment === 'unknown') {
        settled = false;
        continue;
      }
      living.set(pid, stat);
      const isMarked = environment !== 'unreadable' && holdsEntry(environment, wanted);
      // The limits of other users' processes can be read, their environments cannot.
      if (isMarked || readLocksLimit(pid, buffer) === wantedLimit) {
        marked.push(stat);
        onMarked?.(stat);
      } else if (environment === 'unreadable') unreadable.push(stat);
    }
    return { living, marked, unreadable, settled, showsMarks: true };
  },
  find(pid) {
    const stat = readStat(pid);
    return typeof stat === 'string' ? null : stat;
  },
};
