/** What a list of this host's processes holds, wherever it comes from. */

export interface HostProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The process session; on hosts without `/proc` the group again. */
  readonly session: number;
  /** When it started, in the kernel's own words: with the pid it is unique within a boot. */
  readonly start: string;
}

export interface Snapshot {
  /** Every living process by pid. Zombies are dead. */
  readonly living: ReadonlyMap<number, HostProcess>;
  /** Those that carry the run's mark. */
  readonly marked: readonly HostProcess[];
  /** Those whose environment may not be read: they belong to another user. */
  readonly unreadable: readonly HostProcess[];
  /**
   * False where the host did not come to rest while it was read: a process that has gone since may have left a successor that
   * was not seen, so that the absence of marks means nothing.
   */
  readonly settled: boolean;
  /** False where this host does not show environments: then only a tree that was noted before can be followed. */
  readonly showsMarks: boolean;
}

export interface ProcessTable {
  /**
   * @param runId whose mark to look for
   * @param onMarked called for each marked process at the moment it is seen, before the rest is read
   */
  snapshot(runId: string, onMarked?: (found: HostProcess) => void): Snapshot;
  /** @returns the living process with this pid */
  find(pid: number): HostProcess | null;
}
