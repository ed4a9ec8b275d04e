/** The cells of a table of sessions. */
import type { ListedSession } from '../look/list.js';

/** @returns how its agent is: `ended` if somebody has said so; `dead` says that nobody has */
export function agentWord({ liveness, run_ended }: ListedSession): string {
  if (liveness === 'none') return '-';
  return run_ended ? 'ended' : liveness;
}

/** @param home of the user, which is written as `~`, as shells read it */
export function directoryWord({ directory }: ListedSession, home: string | undefined): string {
  if (directory === null) return '-';
  const isBelow = home !== undefined && home !== '/' && directory.startsWith(`${home}/`);
  return isBelow ? `~${directory.slice(home.length)}` : directory;
}
