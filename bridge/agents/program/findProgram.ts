/** Where a program is that would be started by its name. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

export type FoundProgram =
  | { readonly kind: 'found' | 'not_executable'; readonly path: string }
  | { readonly kind: 'not_found' };

/**
 * @param name a name that is looked for, or a path, which begins at the working directory
 * @param searchPath as in the variable PATH
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
    // Not there, or in a folder that may not be entered, which a PATH may name.
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
