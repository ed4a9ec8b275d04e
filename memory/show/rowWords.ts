/** The cells of a table of sessions. */
import { isUnfinished } from '../condition/weight.js';
import type { ListedSession } from '../look/list.js';

/** @param home of the user, which is written as `~`, as shells read it */
export function directoryWord({ directory }: ListedSession, home: string | undefined): string {
  if (directory === null) return '-';
  const isBelow = home !== undefined && home !== '/' && directory.startsWith(`${home}/`);
  return isBelow ? `~${directory.slice(home.length)}` : directory;
}

/** @returns what it is for and, if something is left to do, what was asked last: its first order may be done for long */
export function purposeWord({ purpose, last_asked, condition }: ListedSession): string {
  return last_asked === null || !isUnfinished(condition) ? purpose : `${purpose}; last asked: ${last_asked}`;
}
