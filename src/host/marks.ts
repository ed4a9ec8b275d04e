/**
 * The marks by which a process is known as a run's. The environment holds one of them; the other is the limit of file locks
 * (`RLIMIT_LOCKS`), which Linux has ignored since 2.4 and hands on through every fork, program and session. Only the lower
 * of its two values is set, so that nobody is kept from anything.
 */
import { createHash } from 'node:crypto';

/** A number that no limit in use is likely to have, and that holds in a double. */
const BYTES = 6;

/** @returns the limit that marks the run's processes, as the kernel prints it */
export function limitMarkOf(runId: string): string {
  return String(createHash('sha256').update(runId).digest().readUIntBE(0, BYTES) + 1);
}

/**
 * @param entry `NAME=value`
 * @returns whether the environment holds exactly this entry
 */
export function holdsEntry(environment: Buffer, entry: Buffer): boolean {
  for (let at = environment.indexOf(entry); at >= 0; at = environment.indexOf(entry, at + 1)) {
    const end = at + entry.length;
    const begins = at === 0 || environment[at - 1] === 0;
    if (begins && (end === environment.length || environment[end] === 0)) return true;
  }
  return false;
}

/**
 * @param name of a variable
 * @returns its value; null where the environment does not hold it
 */
export function valueIn(environment: Buffer, name: string): string | null {
  const begin = Buffer.from(`${name}=`);
  for (let at = environment.indexOf(begin); at >= 0; at = environment.indexOf(begin, at + 1)) {
    if (at > 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString('utf8', at + begin.length, end < 0 ? environment.length : end);
  }
  return null;
}
