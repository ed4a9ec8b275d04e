/**
 * The processes of this host, and which of them belong to a run.
 *
 * Every process of a run carries `WATCHKEEPER_RUN={run id}` in the environment that it was started with, and limits of its
 * own (marks.ts). Children inherit both through process groups and sessions of their own, which is why neither of those
 * is proof of anything. The environment is lost where a program empties it, or writes its title over it, as servers do; the
 * limits where this host has no program that sets them, or an agent changes them on purpose.
 *
 * Limits: a process without either mark is only found through its parents, its group or its session.
 */
import { holdsEntry, laneLimitOf, limitMarkOf, runOfLimit, valueIn } from './marks.js';
import {
  listPids,
  newReadBuffer,
  type ReadBuffer,
  readEnvironment,
  readMarkLimits,
  readStat,
  showsOwnNamespace,
} from './procfs.js';
import { psTable } from './ps.js';
import type { HostProcess, ProcessTable, Snapshot } from './table.js';

/** The variable that marks every process of a run. */
export const RUN_MARK = 'WATCHKEEPER_RUN';
/** The variable that says in which lane a run works, and for which Watchkeeper. */
export const LANE_MARK = 'WATCHKEEPER_LANE';

const MOST_LISTS = 10;

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
  /** Of `runOfLimit` where no process has kept the environment. */
  readonly runId: string;
  /** As {@link laneLimitOf} gives it of the lane's mark. */
  readonly laneLimit: string;
}

/**
 * @returns the runs of any Watchkeeper here that have living processes, as far as this host shows marks; `settled` where
 *   nothing moved while it was read
 */
export function findMarkedRuns(): { readonly runs: readonly MarkedRun[]; readonly settled: boolean } {
  if (!showsOwnNamespace()) return { runs: [], settled: true };
  const buffer = newReadBuffer();
  const runs = new Map<string, MarkedRun>();
  const settled = readEveryProcess((pid) => {
    const stat = readStat(pid, buffer);
    if (stat === 'zombie' || stat === 'kernel') return true;
    const found = stat === 'gone' ? 'unknown' : markedRunOf(pid, buffer);
    if (found === null || found === 'unknown') return found === null;
    const limit = limitMarkOf(found.runId);
    if (!runs.has(limit) || found.runId !== runOfLimit(limit)) runs.set(limit, found);
    return true;
  });
  return { runs: [...runs.values()], settled };
}

function markedRunOf(pid: number, buffer: ReadBuffer): MarkedRun | 'unknown' | null {
  const environment = readEnvironment(pid, buffer);
  if (environment === 'unknown') return 'unknown';
  if (environment !== 'unreadable') {
    const mark = valueIn(environment, LANE_MARK);
    const runId = valueIn(environment, RUN_MARK);
    if (mark !== null && runId !== null) return { runId, laneLimit: laneLimitOf(mark) };
  }
  const { locks, resident } = readMarkLimits(pid, buffer);
  const areSet = /^\d+$/.test(locks) && /^\d+$/.test(resident);
  return areSet ? { runId: runOfLimit(locks), laneLimit: resident } : null;
}

/**
 * A list of the host is no snapshot: whoever was listed may have ended before it is read, and have left a successor that was
 * not listed. So the host is listed again until nobody is on the list who was not read before. A living process of a chain in
 * which each starts the next one is on that last list, for a child has a higher pid than its parent and the list goes
 * upwards; and it was read while it lived. When pids begin again at 1, one list can be passed by; then the next one cannot.
 * @param read returns false where the process has gone or could not be read yet
 * @returns false where the host did not come to rest within a few lists
 */
function readEveryProcess(read: (pid: number) => boolean): boolean {
  const known = new Set<number>();
  for (let lists = 0; lists < MOST_LISTS; lists += 1) {
    const unknown = listPids().filter((pid) => !known.has(pid));
    if (unknown.length === 0) return true;
    for (const pid of unknown) if (read(pid)) known.add(pid);
  }
  return false;
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
    const settled = readEveryProcess((pid) => {
      const stat = readStat(pid, buffer);
      if (stat === 'zombie' || stat === 'kernel') return true;
      const environment = stat === 'gone' ? 'unknown' : readEnvironment(pid, buffer);
      if (stat === 'gone' || environment === 'unknown') return false;
      living.set(pid, stat);
      const isMarked = environment !== 'unreadable' && holdsEntry(environment, wanted);
      // The limits of other users' processes can be read, their environments cannot.
      if (isMarked || readMarkLimits(pid, buffer).locks === wantedLimit) {
        marked.push(stat);
        onMarked?.(stat);
      } else if (environment === 'unreadable') unreadable.push(stat);
      return true;
    });
    return { living, marked, unreadable, settled, showsMarks: true };
  },
  find(pid) {
    const stat = readStat(pid);
    return typeof stat === 'string' ? null : stat;
  },
};
