/** How much room a worktree takes on the disk. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** `stat` counts in these, whatever the file system uses. */
const BLOCK_BYTES = 512;

/**
 * @param root its top level
 * @param roots of all worktrees: one that is inside another is not counted there
 * @returns bytes on the disk, also of ignored files; what cannot be read is left out
 */
export function sizeOf(root: string, roots: ReadonlySet<string>): number {
  let bytes = 0;
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const path of pathsIn(folder)) {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined || roots.has(path)) continue;
      bytes += stat.blocks * BLOCK_BYTES;
      if (stat.isDirectory()) folders.push(path);
    }
  }
  return bytes;
}

function pathsIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
