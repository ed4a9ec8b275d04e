/** Looks at files that others have named: in a transcript, a list of git, or by hand. */
import { lstatSync, type Stats, statSync } from 'node:fs';

/** @returns the facts behind links; undefined if nothing can be seen: the name may be too long, below a file, or no name */
export function seenFile(path: string): Stats | undefined {
  try {
    // An error costs as much as ten looks.
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Like {@link seenFile}, without following a link. */
export function seenEntry(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
