/** The files that programs need which are installed in somebody's home folder. */
import { readdirSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** @returns the real path; null if there is none, or links of agents lead there */
type RealPath = (path: string) => string | null;

const PACKAGES = '/node_modules/';

/**
 * @param path absolute
 * @returns the path, what it links to, and for a program of npm the outermost folder of packages, which has all that it imports
 */
export function wholeProgram(path: string, realPath: RealPath): string[] {
  const real = isAbsolute(path) ? realPath(path) : null;
  if (real === null) return [];
  const packages = real.indexOf(PACKAGES);
  return packages === -1 ? [path, real] : [path, real.slice(0, packages + PACKAGES.length - 1)];
}

/**
 * @param searchPath in the format of PATH
 * @param isHidden whether a folder is not visible in the sandbox by itself; only such are read
 * @returns the folders of the search path with the programs that they link to
 */
export function programsOnPath(
  searchPath: string | undefined,
  isHidden: (path: string) => boolean,
  realPath: RealPath,
): string[] {
  const folders = (searchPath ?? '').split(delimiter).filter(isAbsolute).filter(isHidden);
  return folders.flatMap((folder) => {
    if (realPath(folder) === null) return [];
    return [folder, ...linksIn(folder).flatMap((link) => wholeProgram(link, realPath))];
  });
}

function linksIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
  } catch {
    // It is not there, or may not be read.
    return [];
  }
}
