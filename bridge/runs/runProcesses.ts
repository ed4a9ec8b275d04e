/**
 * All processes of one run, as far as they can be known: those with its mark, and whatever is tied to one of those by
 * descent, group or session. Once seen they stay known, so that a process that later hides its environment is not lost.
 */
import { errorCode } from '../../src/errno.js';
import { systemProcessTable } from '../../src/host/processes.js';
import type { HostProcess, ProcessTable, Snapshot } from '../../src/host/table.js';
import type { Run } from '../../src/jobs/model.js';

export interface RunTarget {
  readonly runId: string;
  /** The agent's pid, which leads a group and a session of its own; null where none was started. */
  readonly groupPid: number | null;
  /** The agent's start time, where it was noted: a pid alone may be somebody else's by now. */
  readonly groupStart?: string;
}

/** @returns where to look for the processes of a run that is stored */
export function targetOf({ run_id: runId, pid, pid_start }: Run): RunTarget {
  return { runId, groupPid: pid, ...(pid_start === undefined ? {} : { groupStart: pid_start }) };
}

export interface Look {
  /** The run's living processes. */
  readonly left: readonly HostProcess[];
  /** Living processes that may be the run's, but cannot be read. */
  readonly doubtful: readonly HostProcess[];
  /** Whether nothing moved while looking: only then an empty look means something. */
  readonly settled: boolean;
  readonly showsMarks: boolean;
}

export class RunProcesses {
  readonly #target: RunTarget;
  readonly #table: ProcessTable;
  /** Start times by pid of every process that was ever seen to belong to the run. */
  readonly #known = new Map<number, string>();

  constructor(target: RunTarget, table: ProcessTable = systemProcessTable()) {
    this.#target = target;
    this.#table = table;
  }

  /** @param onMarked called for each marked process at the moment it is seen */
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

  /**
   * Sends a signal, after a last look whether the pid still is the process that was meant.
   * @returns false where the process had gone or may not be signalled
   */
  signal(member: HostProcess, signal: NodeJS.Signals): boolean {
    return this.#isStill(member) && send(member.pid, signal);
  }

  /** Sends a signal to the agent's whole group at once, if `left` shows that the group is the run's. */
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

  /** The agent itself, whatever became of its marks. Where none can be seen, its pid is all there is to begin with. */
  #isNotedRoot(found: HostProcess, snapshot: Snapshot): boolean {
    const { groupPid, groupStart } = this.#target;
    if (found.pid !== groupPid || this.#known.has(found.pid)) return false;
    return groupStart === undefined ? !snapshot.showsMarks : found.start === groupStart;
  }

  /** A number names a group of the run only while one of the run's processes is in it and one of them began it. */
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

  /** Unless the number has become somebody else's. */
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
