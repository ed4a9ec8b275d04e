/** The files of the host that an agent in a sandbox sees, as arguments of bubblewrap. */
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

export interface Mount {
  readonly how: '--bind' | '--ro-bind';
  /** On the host; a real path. */
  readonly source: string;
  /** In the sandbox. */
  readonly path: string;
}

/** More links than that are a circle. */
const MOST_LINKS = 40;

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

/** @returns null if there is none, or the way to it leads through a folder where an agent may have put a link to anything */
export function realPathOutside(path: string, strangers: readonly string[]): string | null {
  return follow(path, (next) => strangers.some((folder) => isWithin(folder, next)));
}

/** @returns whether the way to a file leads over a link in one of the folders, which an agent can replace */
export function leadsOverLinkIn(folders: readonly string[], path: string): boolean {
  let isFound = false;
  follow(path, (next, isLink) => {
    isFound ||= isLink && folders.some((folder) => isWithin(folder, next));
    return isFound;
  });
  return isFound;
}

/** @returns the real path; null if there is none, or a part of the way is refused */
function follow(path: string, refuses: (next: string, isLink: boolean) => boolean): string | null {
  let at = '/';
  const names = path.split('/');
  try {
    for (let links = 0; names.length > 0; ) {
      const next = join(at, names.shift() ?? '');
      const isLink = lstatSync(next).isSymbolicLink();
      if (refuses(next, isLink)) return null;
      if (!isLink) at = next;
      else {
        links += 1;
        if (links > MOST_LINKS) return null;
        const target = readlinkSync(next);
        if (isAbsolute(target)) at = '/';
        names.unshift(...target.split('/'));
      }
    }
    return at;
  } catch {
    // It is not there, or a folder on the way may not be entered.
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
 * @param roots real paths of folders where the agent may write
 */
export function pinned(paths: readonly string[], roots: readonly string[]): Mount[] {
  const above = new Set<string>();
  for (const path of paths.filter(existsSync).flatMap((each) => realOf(each) ?? [])) {
    for (const root of roots) {
      for (let at = dirname(path); at !== root && isWithin(root, at); at = dirname(at)) above.add(at);
    }
  }
  return inPlace('--bind', outerFirst([...above]));
}

/** @returns each path once, folders before their content */
export function outerFirst(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort((left, right) => left.length - right.length);
}

export function outermost(paths: readonly string[]): string[] {
  const found: string[] = [];
  for (const path of outerFirst(paths)) if (!found.some((outer) => isWithin(outer, path))) found.push(path);
  return found;
}
