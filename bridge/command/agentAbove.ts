/** Finds the agent that has started this process, as a hook or a server. */
import { isAgent } from '../../memory/sessions/agentProcess.js';
import type { ProgramFolders } from '../../src/agents/agentProgram.js';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import { systemProcessTable } from '../../src/host/processes.js';

/** The agent may start it through a shell. */
const MOST_SHELLS = 3;

/**
 * @param pid the parent of this process
 * @returns the parent, or the agent above it if that is a shell; null if it is gone
 */
export function agentAbove(host: string, pid: number, folders: ProgramFolders): ProcessIdentity | null {
  const parent = readProcessIdentity(host, pid);
  if (parent.pid <= 1 || parent.pid_start === '') return null;
  let at: ProcessIdentity = parent;
  for (let count = 0; count < MOST_SHELLS; count += 1) {
    if (isAgent(at, folders, parent)) return at;
    const above = systemProcessTable().find(at.pid)?.parent ?? 0;
    if (above <= 1) break;
    at = readProcessIdentity(host, above);
  }
  return parent;
}
