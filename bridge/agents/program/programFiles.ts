/** The files that programs need which are installed in a user's home folder. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { outermost } from './mounts.js';

/** @returns the real path; null if there is none, or links of agents lead there */
type RealPath = (path: string) => string | null;

const PACKAGES = '/node_modules/';
/** A mount costs: if more links lead to a folder, the whole folder is shown. */
const MOST_OF_A_FOLDER = 8;
/** Bubblewrap takes a few thousand arguments. */
const MOST_ON_PATH = 200;

/**
 * @param path absolute
 * @returns the path and the target of its link; for a program of npm the outermost folder of packages, and for one of a virtual
 *   environment of Python that environment, because these have all that it imports
 */
export function wholeProgram(path: string, realPath: RealPath): string[] {
  const real = isAbsolute(path) ? realPath(path) : null;
  if (real === null) return [];
  const packages = real.indexOf(PACKAGES);
  if (packages !== -1) return [path, real.slice(0, packages + PACKAGES.length - 1)];
  const environment = dirname(dirname(real));
  if (!existsSync(join(environment, 'pyvenv.cfg'))) return [path, real];
  const python = realPath(join(environment, 'bin/python'));
  // A Python of its own is at PREFIX/bin.
  return [path, environment, ...(python === null ? [] : [dirname(dirname(python))])];
}

/**
 * @param searchPath in the format of PATH
 * @param isHidden whether a folder is not visible in the sandbox by itself; only such are read
 * @returns the folders of the search path with the programs that they link to, at most 200 paths
 */
export function programsOnPath(
  searchPath: string | undefined,
  isHidden: (path: string) => boolean,
  realPath: RealPath,
): string[] {
  const named = (searchPath ?? '').split(delimiter).filter(isAbsolute).filter(isHidden);
  const folders = named.filter((folder) => realPath(folder) !== null);
  const inFolders = (path: string) => folders.some((folder) => dirname(path) === folder);
  const linked = folders.flatMap(linksIn).flatMap((link) => wholeProgram(link, realPath));
  return outermost([...folders, ...joined(linked.filter((path) => !inFolders(path)))]).slice(0, MOST_ON_PATH);
}

/** @returns the paths, but in place of many files of one folder the folder */
function joined(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  const folders = [...new Set(paths)].map((path) => dirname(path));
  for (const folder of folders) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  return paths.map((path) => ((counts.get(dirname(path)) ?? 0) > MOST_OF_A_FOLDER ? dirname(path) : path));
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
