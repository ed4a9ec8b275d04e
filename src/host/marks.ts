/**
 * The marks by which a process is known as a run's. The environment holds one of them; the other is in two limits that Linux
 * has ignored since 2.4 and hands on through every fork, program and session: of file locks (`RLIMIT_LOCKS`), which names
 * the run, and of resident memory (`RLIMIT_RSS`), which names the lane. Only the lower of their two values is set, so that
 * nobody is kept from anything.
 */
import { createHash } from 'node:crypto';

/** A number that no limit in use is likely to have, and that holds in a double. */
const BYTES = 6;
/** Some programs (GNU sort, gcc) take less memory than `RLIMIT_RSS`: with these 256 TiB added nobody does. */
const NO_LIMIT_BYTES = 2 ** 48;
/** How a run is called of which only its limit is known. */
const UNKNOWN_RUN = 'limit-';

/**
 * @param runId also one of {@link runOfLimit}
 * @returns the limit that marks the run's processes, as the kernel prints it
 */
export function limitMarkOf(runId: string): string {
  return runId.startsWith(UNKNOWN_RUN) ? runId.slice(UNKNOWN_RUN.length) : String(numberOf(runId) + 1);
}

/** @returns a name for the run whose limit this is, under which it can be looked for and ended */
export function runOfLimit(limit: string): string {
  return `${UNKNOWN_RUN}${limit}`;
}

/**
 * @param mark as in the environment's variable
 * @returns the limit that marks the processes that work in the lane, as the kernel prints it
 */
export function laneLimitOf(mark: string): string {
  return String(NO_LIMIT_BYTES + numberOf(mark));
}

function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, BYTES);
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
