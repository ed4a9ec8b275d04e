/** When a process began, in the time of people. */
import { readFileSync } from 'node:fs';
import { SECOND } from '../time.js';
import type { ProcessIdentity } from './identity.js';

/** `USER_HZ`: the kernel shows ticks of this length to every program. */
const TICKS_PER_SECOND = 100;

/**
 * @param process of this boot of this host
 * @param now UTC epoch milliseconds
 * @returns UTC epoch milliseconds, as exact as the host's clock has been since then; null if the system does not say it
 */
export function startedAt({ pid_start }: Pick<ProcessIdentity, 'pid_start'>, now: number): number | null {
  const ticks = /^\d+$/.test(pid_start) ? Number(pid_start) : null;
  if (ticks === null) return null;
  try {
    const sinceBoot = Number.parseFloat(readFileSync('/proc/uptime', 'utf8'));
    return Number.isNaN(sinceBoot) ? null : now - (sinceBoot - ticks / TICKS_PER_SECOND) * SECOND;
  } catch {
    return null;
  }
}
