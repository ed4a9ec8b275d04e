/**
 * Shows whether a process is alive that is not visible from here because it is in another container on the same kernel. A
 * process with a life sign listens on its own socket in the shared logs folder. As soon as the process is gone, however it
 * ended, the kernel refuses connections to it.
 */
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { errorCode } from '../errors.js';
import { isProcessAlive, type ProcessIdentity } from './identity.js';

export function lifeSignFolder(logsFolder: string): string {
  return join(logsFolder, 'alive');
}

/** @returns the socket on which the process listens while it is alive */
export function lifeSignPath(logsFolder: string, { pid_namespace, pid, pid_start }: ProcessIdentity): string {
  return join(lifeSignFolder(logsFolder), `${pid_namespace}-${pid}-${pid_start}.sock`);
}

/**
 * Like {@link isProcessAlive}, and also across the containers of one kernel if the process has a life sign. Only a process
 * whose container dies with it has one, so its death means the death of everything it started.
 * @param owner the process in question
 * @param here the identity of this process
 * @param logsFolder shared with it
 * @returns whether it is alive; null if that cannot be seen from here
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

/** A socket means something only to the kernel on which it listens. */
function isElsewhereOnThisKernel(owner: ProcessIdentity, here: ProcessIdentity): boolean {
  const isSameKernel = owner.boot_id !== '' && owner.boot_id === here.boot_id;
  const namespaces = [owner.pid_namespace, here.pid_namespace];
  return owner.host === here.host && isSameKernel && !namespaces.includes('') && owner.pid_start !== '';
}

/** @returns false only if the kernel refuses the connection: a missing socket may never have existed */
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
