/** The owner of a memory's sessions: a user, or a bridge, which keeps them in its logs folder. */
import { join } from 'node:path';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { ID_FILE, readLogsFolderId } from '../../src/files/logsFolder.js';
import { NotOwnError, requireOwnEntry } from '../../src/files/ownFile.js';
import { isSessionId } from '../../src/ids.js';
import { headOf } from '../../src/log/shorten.js';
import type { Places } from '../home/places.js';
import { RefusedError } from '../logs/kind.js';
import type { Stamp } from '../logs/line.js';
import type { Surroundings } from './surroundings.js';

const LONGEST_SHOWN = 80;

/**
 * @returns whether it is the logs folder of a bridge, which decides the lifecycle of its sessions
 * @throws NotOwnError if others own or may write the file that says so
 */
export function isBridges({ root }: Places): boolean {
  requireOwnEntry(join(root, ID_FILE));
  return readLogsFolderId(root) !== null;
}

/** @throws RefusedError in the logs folder of a bridge */
export function requireOwnMemory(places: Places): void {
  if (!isBridges(places)) return;
  throw new RefusedError({
    code: 'bridge_decides',
    message: `${places.root} is the logs folder of a bridge, which begins and ends its sessions, and removes them with their journals`,
  });
}

/** A caller's view of a memory. */
interface Looking {
  readonly places: Places;
  readonly surroundings: Surroundings;
  readonly stamp: Pick<Stamp, 'redact'>;
}

/** @throws UnreachableError if the places are not the caller's */
export function requireVisible(looking: Looking): void {
  const { places, surroundings } = looking;
  const { WATCHKEEPER_SESSION, WATCHKEEPER_MEMORY } = surroundings.variables;
  try {
    places.requireOwn();
  } catch (cause) {
    const isNamed = WATCHKEEPER_SESSION && WATCHKEEPER_MEMORY === places.root;
    // The cause shows its user what to correct.
    throw isNamed && !(cause instanceof NotOwnError) ? hiddenFrom(looking, cause) : cause;
  }
}

/** The session that `WATCHKEEPER_SESSION` names. Agents in a sandbox do not see the logs folder. */
export function hiddenFrom(
  { places: { root }, surroundings: { variables }, stamp: { redact } }: Looking,
  cause?: unknown,
): UsageError | UnreachableError {
  const { WATCHKEEPER_SESSION: id = '', WATCHKEEPER_MEMORY } = variables;
  if (!isSessionId(id) || !WATCHKEEPER_MEMORY)
    return new UsageError(
      `WATCHKEEPER_SESSION is ${JSON.stringify(headOf(id, LONGEST_SHOWN, redact))}, and there is no such session in ${root}; unset it, or correct it`,
    );
  const why = 'agents in a sandbox, or of another user, have no access to the memory of their bridge';
  return new UnreachableError(`WATCHKEEPER_SESSION is ${id}, and its record cannot be seen in ${root}: ${why}`, {
    cause,
  });
}
