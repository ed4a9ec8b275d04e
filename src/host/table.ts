/** An entry of the process list, whatever its source. */

export interface HostProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The process session; on hosts without `/proc` the group again. */
  readonly session: number;
  /** Its start time as the kernel prints it; with the pid it is unique within a boot. */
  readonly start: string;
}

export interface Snapshot {
  /** Every living process by pid. Zombies count as dead. */
  readonly living: ReadonlyMap<number, HostProcess>;
  readonly marked: readonly HostProcess[];
  /** The processes whose environment may not be read, because they belong to another user. */
  readonly unreadable: readonly HostProcess[];
  /** False if the process list was still changing: then the absence of marks proves nothing. */
  readonly settled: boolean;
  /** False if this host does not show environments: then only a tree recorded earlier can be followed. */
  readonly showsMarks: boolean;
}

export interface ProcessTable {
  /** @param onMarked called for each marked process as soon as it is seen, before the rest is read */
  snapshot(runId: string, onMarked?: (found: HostProcess) => void): Snapshot;
  find(pid: number): HostProcess | null;
}
