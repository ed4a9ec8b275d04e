/** A directory for the work of agents: the top level of a git worktree, or a plain folder. */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

const DIGEST_LENGTH = 16;

export interface Workspace {
  /** `ws_` and 16 hexadecimal digits. */
  readonly id: string;
  /** Without links. */
  readonly root: string;
  readonly kind: 'git' | 'folder';
}

/**
 * @param directory any directory in it
 * @param covers whether a plain folder, which is no link, is the workspace of what is below it. Asked from the directory upwards,
 *   about the directory itself as well
 * @returns the workspace of the directory: the top level of its git worktree, else the nearest plain folder that covers it, else the
 *   directory itself. Every spelling of a path, through links or not, names the same one
 */
export function workspaceOf(directory: string, covers: (folder: Workspace) => boolean): Workspace {
  const real = realOf(directory);
  const top = nearest(real, (folder) => existsSync(join(folder, '.git')));
  if (top !== null) return worktreeAt(top);
  const plain = (root: string): Workspace => ({ id: idOf(root), root, kind: 'folder' });
  return plain(nearest(real, (folder) => covers(plain(folder))) ?? real);
}

/** @returns the workspace of a worktree, also if its folder is gone; `root` is without links */
export function worktreeAt(root: string): Workspace {
  return { id: idOf(root), root, kind: 'git' };
}

function idOf(root: string): string {
  return `ws_${createHash('sha256').update(root).digest('hex').slice(0, DIGEST_LENGTH)}`;
}

/**
 * @param path as it was written, in `directory`; the file need not exist
 * @param known as of {@link realOf}
 * @returns the path relative to the workspace, without links; an absolute path if it is outside
 */
export function pathInWorkspace(
  path: string,
  directory: string,
  { root }: Pick<Workspace, 'root'>,
  known?: Map<string, string>,
): string {
  const real = realOf(resolve(directory, path), known);
  const inside = relative(root, real);
  return inside !== '' && !inside.startsWith(`..${sep}`) && inside !== '..' && !isAbsolute(inside) ? inside : real;
}

/**
 * @param known folders that were looked at just now, for a caller with many paths; those found here are added
 * @returns the part of the path that exists, without links, and the rest as it is
 */
export function realOf(path: string, known?: Map<string, string>): string {
  try {
    return realpathSync.native(path);
  } catch {
    const above = dirname(path);
    if (above === path) return path;
    const real = known?.get(above) ?? realOf(above, known);
    known?.set(above, real);
    return join(real, basename(path));
  }
}

function nearest(directory: string, matches: (folder: string) => boolean): string | null {
  if (matches(directory)) return directory;
  const above = dirname(directory);
  return above === directory ? null : nearest(above, matches);
}
