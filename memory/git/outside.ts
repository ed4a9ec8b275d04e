/** What is inside a project, where an agent can write, and what is outside. */
import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, relative, sep } from 'node:path';
import { gitFoldersOf } from './checkout.js';

/**
 * `npx` puts `node_modules/.bin` of the project first, and a shell perhaps `.venv/bin`: an agent can put a `git` there.
 * @param root the top level of a worktree
 * @param path the caller's `PATH`
 * @returns the variable without the folders inside the project; empty if the caller has none
 */
export function pathOutside(root: string, path: string | undefined): { readonly PATH?: string } {
  if (path === undefined) return {};
  const projects = [root, mainCheckoutOf(root)].flatMap((project) => [project, realOf(project)]);
  const isOutside = (folder: string) => projects.every((project) => !isInside(folder, project));
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  return { PATH: folders.filter((folder) => isOutside(folder) && isOutside(realOf(folder))).join(delimiter) };
}

/** @returns the checkout from which a linked worktree was made; the directory itself if it is no such worktree */
function mainCheckoutOf(root: string): string {
  try {
    const { common } = gitFoldersOf(root);
    return basename(common) === '.git' ? dirname(common) : root;
  } catch {
    return root;
  }
}

/** @returns whether a folder is another one or below it; both are absolute */
export function isInside(folder: string, other: string): boolean {
  const path = relative(other, folder);
  return path !== '..' && !path.startsWith(`..${sep}`);
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
