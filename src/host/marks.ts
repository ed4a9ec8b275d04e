/**
 * The marks that identify a process as part of a run. One is in the environment. The other is in two limits that Linux has
 * ignored since 2.4 and inherits through every fork, program and session: that of file locks (`RLIMIT_LOCKS`) names the run,
 * and that of resident memory (`RLIMIT_RSS`) names the lane. Only the soft limit is set, so no process is restricted.
 */
import { createHash } from 'node:crypto';

/** A number that no limit in use is likely to have, and that fits into a double. */
const BYTES = 6;
/** Some programs (GNU sort, gcc) use less memory than `RLIMIT_RSS`; with these 256 TiB added it restricts none. */
const NO_LIMIT_BYTES = 2 ** 48;
/** Prefix of the name of a run if only its limit is known. */
const UNKNOWN_RUN = 'limit-';

/** @param runId also one from {@link runOfLimit} @returns the limit of the run's processes, as the kernel prints it */
export function limitMarkOf(runId: string): string {
  return runId.startsWith(UNKNOWN_RUN) ? runId.slice(UNKNOWN_RUN.length) : String(numberOf(runId) + 1);
}

/** @returns a name for the run with this limit, to find and end it */
export function runOfLimit(limit: string): string {
  return `${UNKNOWN_RUN}${limit}`;
}

/** @returns the limit that marks the lane's processes, as the kernel prints it */
export function laneLimitOf(mark: string): string {
  return String(NO_LIMIT_BYTES + numberOf(mark));
}

function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, BYTES);
}

/** @param entry `NAME=value` */
export function holdsEntry(environment: Buffer, entry: Buffer): boolean {
  for (let at = environment.indexOf(entry); at >= 0; at = environment.indexOf(entry, at + 1)) {
    const end = at + entry.length;
    const begins = at === 0 || environment[at - 1] === 0;
    if (begins && (end === environment.length || environment[end] === 0)) return true;
  }
  return false;
}

export function valueIn(environment: Buffer, name: string): string | null {
  const begin = Buffer.from(`${name}=`);
  for (let at = environment.indexOf(begin); at >= 0; at = environment.indexOf(begin, at + 1)) {
    if (at > 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString('utf8', at + begin.length, end < 0 ? environment.length : end);
  }
  return null;
}
