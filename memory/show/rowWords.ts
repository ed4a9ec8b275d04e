/** The cells of a table of sessions. */
import type { ListedSession } from '../look/list.js';

/** @param home of the user, which is written as `~`, as shells read it */
export function directoryWord({ directory }: ListedSession, home: string | undefined): string {
  if (directory === null) return '-';
  const isBelow = home !== undefined && home !== '/' && directory.startsWith(`${home}/`);
  return isBelow ? `~${directory.slice(home.length)}` : directory;
}
