/** Files in doubt that are not, or not as they were left, in a directory, because somebody put them into the stash or onto a branch. */
import { join, relative, resolve } from 'node:path';
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

/** @returns by the path of a doubtful file, where git keeps another version of it that is newer: `stash@{0}`, or `branch NAME` */
export function keptElsewhere(
  { surroundings }: Viewer,
  { doubtful, places, root, at }: Left,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const place of places.filter(({ kind }) => kind === 'git')) {
    const paths = doubtful.flatMap(({ path }) => {
      const inside = relative(place.root, resolve(root, path));
      return inside.startsWith('..') ? [] : [inside];
    });
    const versions =
      paths.length === 0 ? null : new Git(place.root, surroundings.variables).versionsElsewhere(paths, at);
    for (const [path, name] of versions ?? []) found.set(nameIn(root, join(place.root, path)), name);
  }
  return found;
}
