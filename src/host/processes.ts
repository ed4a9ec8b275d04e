/**
 * The processes of this host, and which of them belong to a run.
 *
 * Every process of a run carries `WATCHKEEPER_RUN={run id}` in the environment that it was started with, and its own limits
 * (marks.ts). Children inherit both even in their own process groups and sessions, so a group or session alone proves nothing.
 * The environment is lost if a program empties it, or overwrites it with its title, as servers do. The limits are missing if
 * this host has no program that sets them, or if an agent changes them on purpose.
 *
 * Limits: a process with neither mark is found only through its parents, its group or its session.
 */
import { holdsEntry, laneLimitOf, limitMarkOf, runOfLimit, valueIn } from './marks.js';
import { listPids, readEnvironment, readMarkLimits, readStat, showsOwnNamespace } from './procfs.js';
import { psTable } from './ps.js';
import type { HostProcess, ProcessTable } from './table.js';

export const RUN_MARK = 'WATCHKEEPER_RUN';
/** The variable that names the lane of a run, and its Watchkeeper. */
export const LANE_MARK = 'WATCHKEEPER_LANE';

const MOST_LISTS = 10;

export function laneMark(logsId: string, lane: string): string {
  return `${logsId}:${lane}`;
}

/** @returns `/proc` if this host has it, otherwise `ps` */
export function systemProcessTable(): ProcessTable {
  return showsOwnNamespace() ? procTable : psTable;
}

/**
 * Without `/proc`, each step starts a program.
 * @param most how many are followed
 * @returns the pids of the processes that have started it, the nearest first, without the first process of the host
 */
export function startersOf(pid: number, most: number): number[] {
  const table = systemProcessTable();
  const found: number[] = [];
  let parent = table.find(pid)?.parent ?? 0;
  while (parent > 1 && found.length < most && !found.includes(parent)) {
    found.push(parent);
    parent = table.find(parent)?.parent ?? 0;
  }
  return found;
}

export function markedPids(runId: string): number[] {
  return systemProcessTable()
    .snapshot(runId)
    .marked.map(({ pid }) => pid);
}

export interface MarkedRun {
  /** From `runOfLimit` if no process has kept the environment. */
  readonly runId: string;
  /** The {@link laneLimitOf} of the lane's mark. */
  readonly laneLimit: string;
}

/** @returns the runs that have living processes, as far as this host shows marks; `settled` if nothing changed during the scan */
export function findMarkedRuns(): { readonly runs: readonly MarkedRun[]; readonly settled: boolean } {
  if (!showsOwnNamespace()) return { runs: [], settled: true };
  const runs = new Map<string, MarkedRun>();
  const settled = readEveryProcess((pid) => {
    const stat = readStat(pid);
    if (stat === 'zombie' || stat === 'kernel') return true;
    const found = typeof stat === 'string' ? 'unknown' : markedRunOf(pid);
    if (found === null || found === 'unknown') return found === null;
    const limit = limitMarkOf(found.runId);
    if (!runs.has(limit) || found.runId !== runOfLimit(limit)) runs.set(limit, found);
    return true;
  });
  return { runs: [...runs.values()], settled };
}

function markedRunOf(pid: number): MarkedRun | 'unknown' | null {
  const environment = readEnvironment(pid);
  if (environment === 'unknown') return 'unknown';
  if (environment !== 'unreadable') {
    const mark = valueIn(environment, LANE_MARK);
    const runId = valueIn(environment, RUN_MARK);
    if (mark !== null && runId !== null) return { runId, laneLimit: laneLimitOf(mark) };
  }
  const { locks, resident, areKnown } = readMarkLimits(pid);
  if (!areKnown) return 'unknown';
  const areSet = /^\d+$/.test(locks) && /^\d+$/.test(resident);
  return areSet ? { runId: runOfLimit(locks), laneLimit: resident } : null;
}

/**
 * A list of the host's processes is no snapshot: a listed process may end before it is read, and leave a successor that was not
 * listed. So the host is listed again until the list contains no process that was not read before. In a chain of processes of
 * which each starts the next one, the living one is on that last list, because a child has a higher pid than its parent and the
 * list goes upwards; and it was read while it was alive. When pids begin again at 1, one list can miss it; the next one cannot.
 * @param read returns false if the process was gone or could not be read yet
 * @returns false if the host was still changing after a few lists
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

const procTable: ProcessTable = {
  snapshot(runId, onMarked) {
    const living = new Map<number, HostProcess>();
    const marked: HostProcess[] = [];
    const unreadable: HostProcess[] = [];
    const wanted = Buffer.from(`${RUN_MARK}=${runId}`);
    const wantedLimit = limitMarkOf(runId);
    const settled = readEveryProcess((pid) => {
      const stat = readStat(pid);
      if (stat === 'zombie' || stat === 'kernel') return true;
      if (typeof stat === 'string') return false;
      const environment = readEnvironment(pid);
      if (environment === 'unknown') return false;
      living.set(pid, stat);
      const isMarked = environment !== 'unreadable' && holdsEntry(environment, wanted);
      // Other users' limits are readable, their environments are not.
      const limits = isMarked ? null : readMarkLimits(pid);
      if (limits?.areKnown === false) return false;
      if (limits === null || limits.locks === wantedLimit) {
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
