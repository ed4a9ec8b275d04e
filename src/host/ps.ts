/**
 * The processes of a host without `/proc`, as `ps` lists them (POSIX columns and `lstart`). It shows no environments, so
 * no marks; start times are exact to the second.
 */
import { spawnSync } from 'node:child_process';
import type { HostProcess, ProcessTable } from './table.js';

const LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/;

export const psTable: ProcessTable = {
  snapshot() {
    const listed = list(['-A']);
    const living = new Map((listed ?? []).map((found) => [found.pid, found]));
    // Without `ps` nothing is seen, and that must never pass for an empty host.
    return { living, marked: [], unreadable: [], settled: listed !== null, showsMarks: false };
  },
  find(pid) {
    return list(['-p', String(pid)])?.find((found) => found.pid === pid) ?? null;
  },
};

/**
 * @param text the output of `ps -o pid=,ppid=,pgid=,stat=,lstart=`
 * @returns the living processes in it
 */
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
  // `ps -p` exits with 1 where there is no such process; only a `ps` that did not run at all is no answer.
  return result.error === undefined && result.status !== null ? parsePs(result.stdout) : null;
}
