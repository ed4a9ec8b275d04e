/** Files in doubt whose half-done work a person has put into the stash, or onto a branch that was left. */
import { join, relative, resolve, sep } from 'node:path';
import { type DoubtfulFile, nameIn } from '../condition/filesInDoubt.js';
import { Git } from '../git/git.js';
import type { Viewer } from '../sessions/views.js';
import type { Workspace } from '../workspaces/workspace.js';

/** The directory of a session, and its files in doubt. */
export interface Left {
  readonly doubtful: readonly DoubtfulFile[];
  /** The worktrees of the files, and the directory itself. */
  readonly places: readonly Workspace[];
  readonly root: string;
  /** When its agent was last seen, UTC epoch milliseconds. */
  readonly at: number;
}

/** @returns by the path of a file, the place in git of a newer version; null if git does not show that */
export function keptElsewhere(
  { surroundings }: Viewer,
  { doubtful, places, root, at }: Left,
): ReadonlyMap<string, string | null> {
  const found = new Map<string, string | null>();
  for (const place of places.filter(({ kind }) => kind === 'git')) {
    const paths = doubtful.flatMap(({ path }) => {
      const inside = relative(place.root, resolve(root, path));
      return inside === '..' || inside.startsWith(`..${sep}`) ? [] : [inside];
    });
    const versions =
      paths.length === 0 ? null : new Git(place.root, surroundings.variables).versionsElsewhere(paths, at);
    for (const path of paths) {
      const kept = versions === null ? null : versions.get(path);
      if (kept !== undefined) found.set(nameIn(root, join(place.root, path)), kept);
    }
  }
  return found;
}
