/**
 * All processes of one run, as far as they can be known: those with its mark, and those related to one of them by descent,
 * group or session. Once seen they stay known, so that a process that later hides its environment is not lost.
 */
import { errorCode } from '../../src/errors.js';
import { systemProcessTable } from '../../src/host/processes.js';
import type { HostProcess, ProcessTable, Snapshot } from '../../src/host/table.js';
import type { Run } from '../../src/jobs/model.js';

export interface RunTarget {
  readonly runId: string;
  /** The agent's pid, which leads its own group and session; null if none was started. */
  readonly groupPid: number | null;
  /** The agent's start time, if recorded: the pid alone may have been reused. */
  readonly groupStart?: string;
}

export function targetOf({ run_id: runId, pid, pid_start }: Run): RunTarget {
  return { runId, groupPid: pid, ...(pid_start === undefined ? {} : { groupStart: pid_start }) };
}

export interface Look {
  readonly left: readonly HostProcess[];
  /** Living processes that may belong to the run, but cannot be read. */
  readonly doubtful: readonly HostProcess[];
  /** Whether nothing changed during the scan: only then does an empty scan prove anything. */
  readonly settled: boolean;
  readonly showsMarks: boolean;
}

export class RunProcesses {
  readonly #target: RunTarget;
  readonly #table: ProcessTable;
  /** Start time by pid of every process ever seen to belong to the run. */
  readonly #known = new Map<number, string>();

  constructor(target: RunTarget, table: ProcessTable = systemProcessTable()) {
    this.#target = target;
    this.#table = table;
  }

  look(onMarked?: (found: HostProcess) => void): Look {
    const snapshot = this.#table.snapshot(this.#target.runId, (found) => {
      this.#known.set(found.pid, found.start);
      if (found.pid !== process.pid) onMarked?.(found);
    });
    const members = this.#gather(snapshot);
    for (const member of members.values()) this.#known.set(member.pid, member.start);
    return {
      left: [...members.values()],
      doubtful: snapshot.unreadable.filter((found) => !members.has(found.pid) && this.#sharesGroup(found, snapshot)),
      settled: snapshot.settled,
      showsMarks: snapshot.showsMarks,
    };
  }

  /** Checks once more that the pid is still the same process. @returns false if it was gone or may not be signalled */
  signal(member: HostProcess, signal: NodeJS.Signals): boolean {
    return this.#isStill(member) && send(member.pid, signal);
  }

  /** Sends a signal to the agent's whole group at once, if `left` shows that the group belongs to the run. */
  signalGroup(left: readonly HostProcess[], signal: NodeJS.Signals): boolean {
    const member = left.find((found) => found.group === this.#target.groupPid);
    return member !== undefined && member.group > 1 && this.#isStill(member) && send(-member.group, signal);
  }

  #gather(snapshot: Snapshot): Map<number, HostProcess> {
    const members = new Map<number, HostProcess>();
    for (const found of snapshot.living.values()) {
      if (this.#known.get(found.pid) === found.start || this.#isNotedRoot(found, snapshot))
        members.set(found.pid, found);
    }
    for (let grown = members.size > 0; grown; ) {
      const before = members.size;
      const ties = this.#ties(members);
      for (const found of snapshot.living.values()) {
        if (members.has(found.parent) || ties.groups.has(found.group) || ties.sessions.has(found.session)) {
          members.set(found.pid, found);
        }
      }
      grown = members.size > before;
    }
    members.delete(process.pid);
    return members;
  }

  /** The agent itself, whatever happened to its marks. If no marks are visible, its pid is the only starting point. */
  #isNotedRoot(found: HostProcess, snapshot: Snapshot): boolean {
    const { groupPid, groupStart } = this.#target;
    if (found.pid !== groupPid || this.#known.has(found.pid)) return false;
    return groupStart === undefined ? !snapshot.showsMarks : found.start === groupStart;
  }

  /** A group or session number belongs to the run only while one of the run's processes is in it and one of them created it. */
  #ties(members: ReadonlyMap<number, HostProcess>): { groups: Set<number>; sessions: Set<number> } {
    const groups = new Set<number>();
    const sessions = new Set<number>();
    for (const member of members.values()) {
      if (this.#began(member.group)) groups.add(member.group);
      if (this.#began(member.session)) sessions.add(member.session);
    }
    return { groups, sessions };
  }

  #began(leader: number): boolean {
    return leader === this.#target.groupPid || this.#known.has(leader);
  }

  /** Unless the number has been reused. */
  #sharesGroup(found: HostProcess, { living }: Snapshot): boolean {
    const { groupPid, groupStart } = this.#target;
    if (groupPid === null || (found.group !== groupPid && found.session !== groupPid)) return false;
    return groupStart === undefined || (living.get(groupPid)?.start ?? groupStart) === groupStart;
  }

  #isStill(member: HostProcess): boolean {
    return member.pid > 1 && member.pid !== process.pid && this.#table.find(member.pid)?.start === member.start;
  }
}

function send(target: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    if (['ESRCH', 'EPERM'].includes(errorCode(error))) return false;
    throw error;
  }
}
