/** The lock of a worktree, and the process that it names: Claude Code locks the worktrees that it makes, and leaves the lock. */
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';

/** `claude session NAME (pid P start S)`, where S is field 22 of `/proc/P/stat` */
const OF_CLAUDE = /^claude session (.+) \(pid (\d+) start (\S+)\)$/;

export interface WorktreeLock {
  /** Empty if none was given. */
  readonly reason: string;
  /** Null if it names none. */
  readonly by: {
    readonly name: string;
    readonly pid: number;
    readonly pid_start: string;
    /** Null if it cannot be seen from here. */
    readonly is_alive: boolean | null;
  } | null;
}

/**
 * @param reason as git has noted it
 * @param here the identity of a process of this host
 */
export function lockOf(reason: string, here: ProcessIdentity): WorktreeLock {
  const [, name, digits, pid_start] = OF_CLAUDE.exec(reason) ?? [];
  if (name === undefined || pid_start === undefined) return { reason, by: null };
  const pid = Number(digits);
  return { reason, by: { name, pid, pid_start, is_alive: isProcessAlive({ ...here, pid, pid_start }, here) } };
}
