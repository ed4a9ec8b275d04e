/** What the host has and an agent in a sandbox sees, as arguments of bubblewrap. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Mount {
  readonly how: '--bind' | '--ro-bind';
  /** On the host; a real path. */
  readonly source: string;
  /** In the sandbox. */
  readonly path: string;
}

/** @returns whether the path is the folder, or lies in it; both without links and dots */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** @returns the real path; null if there is no such file, or it cannot be reached */
export function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** @returns a mount for each path that exists, at its real path, once */
export function inPlace(how: Mount['how'], paths: readonly string[]): Mount[] {
  const real = new Set(paths.flatMap((path) => realOf(path) ?? []));
  return [...real].map((path) => ({ how, source: path, path }));
}

export function argumentsOf(mounts: readonly Mount[]): string[] {
  return mounts.flatMap(({ how, source, path }) => [how, source, path]);
}

/**
 * Makes each folder between a root and a path a separate mount; otherwise the agent could rename one of them and put another in
 * its place. The outer ones come first, because a mount hides earlier mounts below it.
 * @param roots real paths of folders in which the agent may write
 */
export function pinned(paths: readonly string[], roots: readonly string[]): Mount[] {
  const above = new Set<string>();
  for (const path of paths.filter(existsSync).flatMap((each) => realOf(each) ?? [])) {
    for (const root of roots) for (const folder of foldersBetween(root, path)) above.add(folder);
  }
  return inPlace('--bind', outerFirst([...above]));
}

/** @returns the folders that contain the path and lie in the root, without the root; none if the path is elsewhere */
export function foldersBetween(root: string, path: string): string[] {
  const folders: string[] = [];
  for (let at = dirname(path); at !== root && isWithin(root, at); at = dirname(at)) folders.unshift(at);
  return folders;
}

export function outerFirst(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort((left, right) => left.length - right.length);
}
