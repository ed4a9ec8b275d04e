/** The cells of a table of sessions. */
import { isUnfinished } from '../condition/weight.js';
import type { ListedSession } from '../look/list.js';

/** @param home of the user, which is written as `~`, as shells read it */
export function directoryWord({ directory }: ListedSession, home: string | undefined): string {
  return directory === null ? '-' : pathWord(directory, home);
}

/** @param home as of {@link directoryWord} */
export function pathWord(path: string, home: string | undefined): string {
  const isBelow = home !== undefined && home !== '/' && path.startsWith(`${home}/`);
  return isBelow ? `~${path.slice(home.length)}` : path;
}

/** @returns what it is for and, if something is left to do, what was asked last: its first order may be done for long */
export function purposeWord({ purpose, last_asked, condition }: ListedSession): string {
  return last_asked === null || !isUnfinished(condition) ? purpose : `${purpose}; last asked: ${last_asked}`;
}
