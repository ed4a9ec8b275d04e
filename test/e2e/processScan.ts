/**
 * Who lives, read from `/proc` without any part of the product: what the product proves about its runs is checked by
 * another eye.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface FoundProcess {
  readonly pid: number;
  /** Its process session; the agent leads one, and a tool may lead another. */
  readonly session: number;
  readonly command: string;
}

/** @returns whether this host shows its processes; where not, nothing can be said about them */
export function canScan(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid);
  } catch {
    return false;
  }
}

/** @returns the living processes that were started with `name=value` in their environment */
export function findByEnvironment(name: string, value: string): FoundProcess[] {
  const wanted = `${name}=${value}`;
  return livingPids().flatMap((pid) => {
    const environment = read(`/proc/${pid}/environ`);
    if (!environment.split('\0').includes(wanted)) return [];
    const process = describe(pid);
    return process === null ? [] : [process];
  });
}

/** @returns the living processes of a run of Watchkeeper */
export function findRun(runId: string): FoundProcess[] {
  return findByEnvironment('WATCHKEEPER_RUN', runId);
}

/** @returns the living processes that this one has started */
export function childrenOf(parent: number): FoundProcess[] {
  return livingPids().flatMap((pid) => {
    const process = parentOf(pid) === parent ? describe(pid) : null;
    return process === null ? [] : [process];
  });
}

/** @returns the living processes below this one, whoever leads their groups and sessions: what a service's unit holds */
export function descendantsOf(ancestor: number): FoundProcess[] {
  return childrenOf(ancestor).flatMap((child) => [child, ...descendantsOf(child.pid)]);
}

function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function livingPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** @returns null for a process that is gone, or dead and not yet reaped */
function describe(pid: number): FoundProcess | null {
  const stat = read(`/proc/${pid}/stat`);
  // The second field is a name in parentheses that may itself hold spaces.
  const [state, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === undefined || state === '' || state === 'Z' || state === 'X') return null;
  const command = read(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();
  return { pid, session: Number(session), command: command.slice(0, 200) };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
