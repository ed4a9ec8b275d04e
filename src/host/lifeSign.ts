/**
 * Whether a process lives that cannot be seen from here, because it is in another container on the same kernel. A process
 * that gives a life sign listens on a socket in the shared logs folder, under a name of its own; the kernel refuses whoever
 * knocks from the moment in which the process has gone, however it ended.
 */
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { errorCode } from '../errno.js';
import { isProcessAlive, type ProcessIdentity } from './identity.js';

/** @returns the folder of the life signs of those who share a logs folder */
export function lifeSignFolder(logsFolder: string): string {
  return join(logsFolder, 'alive');
}

/** @returns where the process listens as long as it lives */
export function lifeSignPath(logsFolder: string, { pid_namespace, pid, pid_start }: ProcessIdentity): string {
  return join(lifeSignFolder(logsFolder), `${pid_namespace}-${pid}-${pid_start}.sock`);
}

/**
 * As {@link isProcessAlive}, and across the containers of one kernel where the process gives a life sign. Only a process
 * whose container dies with it gives one, so its death is the death of everything it started.
 * @param owner the process in question
 * @param here the identity of this process
 * @param logsFolder shared with it
 * @returns whether it lives; null where that cannot be seen from here
 */
export async function isOwnerAlive(
  owner: ProcessIdentity,
  here: ProcessIdentity,
  logsFolder: string,
): Promise<boolean | null> {
  const seen = isProcessAlive(owner, here);
  if (seen !== null || !isElsewhereOnThisKernel(owner, here)) return seen;
  return isListening(lifeSignPath(logsFolder, owner));
}

/** A socket says something only to the kernel on which it listens. */
function isElsewhereOnThisKernel(owner: ProcessIdentity, here: ProcessIdentity): boolean {
  const isSameKernel = owner.boot_id !== '' && owner.boot_id === here.boot_id;
  const namespaces = [owner.pid_namespace, here.pid_namespace];
  return owner.host === here.host && isSameKernel && !namespaces.includes('') && owner.pid_start !== '';
}

/** @returns false only where the kernel refuses: a socket that is missing was perhaps never there */
function isListening(path: string): Promise<boolean | null> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(errorCode(error) === 'ECONNREFUSED' ? false : null));
  });
}
