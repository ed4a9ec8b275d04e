/** Finds the program that a name would start. */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { isExecutable } from '../../../src/files/executable.js';
import { SECOND } from '../../../src/time.js';

/** Where the system's own programs are, whatever an agent's PATH is. */
const PLACES = '/usr/bin:/bin:/usr/local/bin';
const TRIAL_LIMIT_MS = 5 * SECOND;

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

type FoundProgram =
  | { readonly kind: 'found' | 'not_executable'; readonly path: string }
  | { readonly kind: 'not_found' };

/** @param name a name to search for, or a path @param searchPath in the format of PATH */
export function findProgram(name: string, searchPath: string, workingDirectory: string): FoundProgram {
  const places = name.includes('/') ? [name] : searchPath.split(delimiter).map((folder) => join(folder || '.', name));
  const files = places.map((place) => resolve(workingDirectory, place)).filter(isFile);
  const path = files.find(isExecutable) ?? files[0];
  if (path === undefined) return { kind: 'not_found' };
  return { kind: isExecutable(path) ? 'found' : 'not_executable', path };
}

/** @returns the path of one of the system's own programs; null if it cannot be executed here */
export function systemProgram(name: string): string | null {
  const found = findProgram(name, PLACES, '/');
  return found.kind === 'found' ? found.path : null;
}

/** Runs a line to its end, with an empty environment and a limit of five seconds. */
export function tryOut({ command, args }: CommandLine) {
  return spawnSync(command, args, { cwd: '/', env: {}, encoding: 'utf8', timeout: TRIAL_LIMIT_MS });
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // It is not there, or PATH names a folder that may not be entered.
    return false;
  }
}
