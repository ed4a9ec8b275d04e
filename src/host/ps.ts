/** The processes of a host without `/proc`, from `ps`: no environments, so no marks; start times exact to the second. */
import { spawnSync } from 'node:child_process';
import type { HostProcess, ProcessTable } from './table.js';

const LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/;

export const psTable: ProcessTable = {
  snapshot() {
    const listed = list(['-A']);
    const living = new Map((listed ?? []).map((found) => [found.pid, found]));
    // If `ps` is missing, nothing is visible; that must not be taken for an empty host.
    return { living, marked: [], unreadable: [], settled: listed !== null, showsMarks: false };
  },
  find(pid) {
    return list(['-p', String(pid)])?.find((found) => found.pid === pid) ?? null;
  },
};

/** @param text the output of `ps -o pid=,ppid=,pgid=,stat=,lstart=` */
export function parsePs(text: string): HostProcess[] {
  const found: HostProcess[] = [];
  for (const line of text.split('\n')) {
    const [, pid, parent, group, state, start] = LINE.exec(line) ?? [];
    if (start === undefined || state?.startsWith('Z')) continue;
    found.push({ pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(group), start });
  }
  return found;
}

function list(which: readonly string[]): HostProcess[] | null {
  const result = spawnSync('/bin/ps', [...which, '-o', 'pid=,ppid=,pgid=,stat=,lstart='], {
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
    maxBuffer: 64 * 1024 * 1024,
  });
  // `ps -p` exits with 1 if there is no such process; only a `ps` that did not run at all gives no answer.
  return result.error === undefined && result.status !== null ? parsePs(result.stdout) : null;
}
