// How much processor time a test file takes. Wall time misleads: files run beside each other, and many only wait.
import { readFileSync } from 'node:fs';

const TICK_MS = 10;

/**
 * @returns the milliseconds of this process and of those that it has started and waited for, with theirs; of this process alone
 *   where there is no /proc. What was left to itself, such as a server that went on, is in neither
 */
export function processorMs() {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const [user, system, usersOfChildren, systemsOfChildren] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number);
    return (user + system + usersOfChildren + systemsOfChildren) * TICK_MS;
  } catch {
    const { user, system } = process.cpuUsage();
    return Math.round((user + system) / 1_000);
  }
}
