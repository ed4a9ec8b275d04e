/** How to go on with a session. */
import type { Worklog } from '../fold/worklog.js';

/**
 * @param name the session's id, quoted if it is not plain
 * @returns the command that makes it work, for the state that the session is in
 */
export function goOnCommand({ session_id, lifecycle, archived, facts }: Worklog, name = session_id): string {
  if (lifecycle === 'ended') return `watchkeeper work reopen ${name}`;
  if (archived !== null || facts?.concurrent === true || facts?.explicit === false)
    return `watchkeeper work continue ${name}`;
  // The reader may be in a directory that another session holds.
  return `watchkeeper track init --resume --session ${name}`;
}
