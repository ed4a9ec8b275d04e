import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever its own timer does. */
const TICK_MS = 10;

/** @returns how much time of a processor a process of this host has taken, in milliseconds */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
