/**
 * Decides which process may start, adopt and stop the Redis of a logs folder. Claim file names are never reused, so removing a
 * dead process's claim can never remove a living one's, whenever a process is killed.
 *
 * A starter first writes its claim, then looks for others. If there are two, at least the later writer sees the other. The one
 * whose name sorts first stays; the other gives up. A starter continues only if it sees no other claim.
 */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nullIfAbsent, UsageError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { parseJson } from '../../src/json.js';
import { SECOND } from '../../src/time.js';
import { PROCESS_IDENTITY, writeWhole } from './endpoint.js';
import { refuseWhenStopping, type ServerFolder } from './serverProcess.js';

/** A later starter that sees our claim leaves at once; one that does not leave owns the folder. */
const OTHERS_LEAVE_WITHIN_MS = 2 * SECOND;
const LOOK_AGAIN_MS = 10;
const CLAIM_NAME = /^claim-[0-9]{15}-[0-9]+-[0-9a-f]+\.json$/;

export interface Claim {
  release(): void;
}

/** Null if that is unknown: then the claim stays, but does not block another bridge. */
type Lives = (owner: ProcessIdentity) => Promise<boolean | null>;

/** @throws UsageError if a living process owns the folder, with its pid; UnreachableError if stopped first; the file system's error */
export async function claimFolder({ folder, here, clock, stopping }: ServerFolder, lives: Lives): Promise<Claim> {
  const name = `claim-${String(clock.now()).padStart(15, '0')}-${here.pid}-${randomBytes(6).toString('hex')}.json`;
  const path = join(folder, name);
  const release = () => rmSync(path, { force: true });
  writeWhole(path, here);
  const end = clock.monotonic() + OTHERS_LEAVE_WITHIN_MS;
  try {
    for (;;) {
      const rival = await findRival(folder, name, lives);
      refuseWhenStopping(stopping);
      if (rival === null) return { release };
      if (rival.name < name || clock.monotonic() > end) throw refusal(rival.owner, folder);
      await clock.sleep(LOOK_AGAIN_MS, stopping);
    }
  } catch (error) {
    release();
    throw error;
  }
}

interface Rival {
  readonly name: string;
  readonly owner: ProcessIdentity;
}

/** Deletes the claims of dead processes. @returns the first claim of another living process */
async function findRival(folder: string, ownName: string, lives: Lives): Promise<Rival | null> {
  let first: Rival | null = null;
  for (const name of readdirSync(folder).filter((entry) => CLAIM_NAME.test(entry) && entry !== ownName)) {
    const owner = readClaim(join(folder, name));
    const isLiving = owner === null ? false : await lives(owner);
    if (isLiving === false) rmSync(join(folder, name), { force: true });
    else if (owner !== null && isLiving && (first === null || name < first.name)) first = { name, owner };
  }
  return first;
}

/**
 * @returns null if the claim was released by now or is damaged; claims appear whole, so a damaged one is not being written
 * @throws the file system's error if it cannot be read: it may be that of a living process
 */
function readClaim(path: string): ProcessIdentity | null {
  try {
    return PROCESS_IDENTITY.safeParse(parseJson(readFileSync(path, 'utf8'))).data ?? null;
  } catch (error) {
    return nullIfAbsent(error);
  }
}

function refusal(owner: ProcessIdentity, folder: string): UsageError {
  return new UsageError(
    `another bridge (process ${owner.pid} on ${owner.host}) owns the Redis in ${folder}; stop it first, or give this one other logs (WATCHKEEPER_LOGS)`,
  );
}
