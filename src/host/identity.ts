/**
 * Identifies a process. A pid alone is not enough: it is reused, and its count restarts in every container and after every boot.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hasPid, readStat, showsOwnNamespace } from './procfs.js';

/** One process as the kernel knows it. With its start time, a pid is unique within a boot. */
export interface ProcessIdentity {
  /** `WATCHKEEPER_HOST`, else the host's name. */
  readonly host: string;
  /** `/proc/sys/kernel/random/boot_id`; empty if the system has none. */
  readonly boot_id: string;
  /** Inode of `/proc/self/ns/pid`; empty if the system has none. */
  readonly pid_namespace: string;
  readonly pid: number;
  /** Field 22 of `/proc/{pid}/stat`, in clock ticks since boot; empty if the system has none. */
  readonly pid_start: string;
}

/** They stay as long as this process does, and are read only if a process of this host is to be identified. */
let kernel: Pick<ProcessIdentity, 'boot_id' | 'pid_namespace'> | null = null;

/** @param host `WATCHKEEPER_HOST`, else the host's name @returns fields that the system does not offer are empty */
export function readProcessIdentity(host: string, pid: number = process.pid): ProcessIdentity {
  const stat = showsOwnNamespace() ? readStat(pid) : 'gone';
  kernel ??= {
    boot_id: orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pid_namespace: orEmpty(() => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''),
  };
  return { host, ...kernel, pid, pid_start: typeof stat === 'string' ? '' : stat.start };
}

/**
 * @returns whether it lives; null if that cannot be seen: another host or pid namespace, no answer of the kernel, or no `/proc` and
 *   some process with this pid. Null is no proof of a death
 */
export function isProcessAlive(identity: ProcessIdentity, here: ProcessIdentity): boolean | null {
  if (identity.host !== here.host) return null;
  if (identity.boot_id !== here.boot_id) return identity.boot_id === '' || here.boot_id === '' ? null : false;
  if (identity.pid_namespace !== here.pid_namespace) return null;
  if (!showsOwnNamespace()) return hasPid(identity.pid) ? null : false;
  const stat = readStat(identity.pid);
  if (stat === 'unknown') return null;
  if (typeof stat === 'string') return false;
  return identity.pid_start === '' ? null : stat.start === identity.pid_start;
}

/** @returns whether this kernel could say whether it lives: if {@link isProcessAlive} is null all the same, the answer failed */
export function isVisible(identity: ProcessIdentity, here: ProcessIdentity): boolean {
  const isOfBoot = identity.host === here.host && identity.boot_id === here.boot_id;
  return isOfBoot && identity.pid_namespace === here.pid_namespace && identity.pid_start !== '';
}

export function isSameProcess(left: ProcessIdentity, right: ProcessIdentity): boolean {
  return (
    left.pid === right.pid &&
    left.pid_start === right.pid_start &&
    left.boot_id === right.boot_id &&
    left.pid_namespace === right.pid_namespace &&
    left.host === right.host
  );
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
