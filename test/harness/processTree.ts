import { systemProcessTable } from '../../src/host/processes.js';
import type { HostProcess, ProcessTable } from '../../src/host/table.js';

/** @returns the living process `rootPid` and all its living descendants; empty where it does not live */
export function readProcessTree(rootPid: number, table: ProcessTable = systemProcessTable()): HostProcess[] {
  const { living } = table.snapshot('');
  const root = living.get(rootPid);
  if (root === undefined) return [];
  const tree = [root];
  for (const parent of tree) {
    for (const candidate of living.values()) if (candidate.parent === parent.pid) tree.push(candidate);
  }
  return tree;
}
