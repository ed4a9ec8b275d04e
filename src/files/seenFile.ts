/** Looks at files that others have named: in a transcript, a list of git, or by hand. */
import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { errorCode } from '../errors.js';

/** `none`: nothing is there, or can be. `unknown`: the look failed, so nothing may be said of the file, least of all that it is gone. */
export type Sight = Stats | 'none' | 'unknown';

/** The name is too long, none at all, or leads in a circle: no file has it. */
const IMPOSSIBLE: ReadonlySet<string> = new Set(['ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE', 'ELOOP']);

/** @returns the facts behind links */
export function sightOf(path: string): Sight {
  try {
    // An error costs as much as ten looks.
    return statSync(path, { throwIfNoEntry: false }) ?? 'none';
  } catch (error) {
    return absence(error);
  }
}

/** Like {@link sightOf}, without following a link. */
export function sightOfEntry(path: string): Sight {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? 'none';
  } catch (error) {
    return absence(error);
  }
}

/** For those who claim nothing of a file that they do not see. @returns the facts behind links; undefined if there are none to be seen */
export function seenFile(path: string): Stats | undefined {
  return seen(sightOf(path));
}

/** Like {@link seenFile}, without following a link. */
export function seenEntry(path: string): Stats | undefined {
  return seen(sightOfEntry(path));
}

function absence(error: unknown): 'none' | 'unknown' {
  return IMPOSSIBLE.has(errorCode(error)) ? 'none' : 'unknown';
}

function seen(sight: Sight): Stats | undefined {
  return typeof sight === 'string' ? undefined : sight;
}

/** @returns the path behind all links; null if it leads nowhere */
export function realPathOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}
