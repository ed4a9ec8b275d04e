/** Finds the program that a name would start. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

export type FoundProgram =
  | { readonly kind: 'found' | 'not_executable'; readonly path: string }
  | { readonly kind: 'not_found' };

/**
 * @param name a name to search for, or a path, relative to the working directory
 * @param searchPath in the format of PATH
 */
export function findProgram(name: string, searchPath: string, workingDirectory: string): FoundProgram {
  const places = name.includes('/') ? [name] : searchPath.split(delimiter).map((folder) => join(folder || '.', name));
  const files = places.map((place) => resolve(workingDirectory, place)).filter(isFile);
  const path = files.find(isExecutable) ?? files[0];
  if (path === undefined) return { kind: 'not_found' };
  return { kind: isExecutable(path) ? 'found' : 'not_executable', path };
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // It is not there, or PATH names a folder that may not be entered.
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
