/** Processes that stop themselves, as at a failpoint. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 5;

/** Awaits that a process has stopped: if it is continued before it stops, it never continues. */
export async function untilStopped(pid: number | undefined): Promise<void> {
  while (!/\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) await pause(LOOK_EVERY_MS);
}
