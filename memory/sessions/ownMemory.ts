/** Whose sessions a memory holds: those of a user, or those of a bridge, in whose logs folder they are. */
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import type { Places } from '../home/places.js';
import { RefusedError } from '../logs/log.js';

/** @returns whether it is the logs folder of a bridge, which decides the lifecycle of its sessions */
export function isBridges({ root }: Places): boolean {
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
