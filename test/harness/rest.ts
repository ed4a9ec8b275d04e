/** When a scene has nothing more to do: time may be moved then, whatever the speed of Redis. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { patience } from './patience.js';

/** What was begun may go on with another turn of the event loop before it asks Redis again. */
const QUIET_ROUNDS = 3;
/** Far more than anything takes, a disk under load included; a scene that asks for ever has no rest. */
const WITHIN_MS = 5_000;

/**
 * Resolves when no command is on its way on these connections, whatever was published has arrived, and no file is being
 * read or written.
 * @param connections those that publish before those that subscribe; open ones
 * @throws Error where that does not become true
 */
export async function untilAtRest(connections: readonly Redis[], withinMs = WITHIN_MS * patience()): Promise<void> {
  const end = performance.now() + withinMs;
  let quiet = 0;
  while (quiet < QUIET_ROUNDS) {
    if (performance.now() > end) throw new Error('the scene keeps changing');
    quiet = isBusy(connections) ? 0 : quiet + 1;
    // Answers come in the order of the questions, and a message comes before the answer to whoever published it.
    for (const connection of connections) await connection.ping();
    await nextTurn();
  }
}

function isBusy(connections: readonly Redis[]): boolean {
  // ioredis does not tell of it otherwise.
  if (connections.some((connection) => Reflect.get(connection, 'commandQueue').length > 0)) return true;
  // A file that is being closed is no longer an `FSReq…`.
  return process.getActiveResourcesInfo().some((kind) => kind.startsWith('FSReq') || kind === 'CloseReq');
}
