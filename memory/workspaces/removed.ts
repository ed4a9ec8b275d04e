/** The directory of a server may be removed while its agent runs. A workspace that is not there has no session, and begins none. */
import { statSync } from 'node:fs';
import { UsageError } from '../../src/errors.js';

/** @throws UsageError if the directory does not exist any more */
export function requireDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new UsageError(
    `${directory}, the directory in which this agent works, does not exist any more: make it again, start the agent in another one, or name the session with session_id (list_sessions has the ids)`,
  );
}
