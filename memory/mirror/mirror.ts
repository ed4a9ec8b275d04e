/** The folder that a project has for its sessions. */
import { relative } from 'node:path';
import { excludeFolder } from '../git/exclude.js';
import { RefusedError } from '../logs/kind.js';
import { makeBelow, partsOf, pathBelow } from './below.js';

const ACTIVE = 'state/active-session.md';
const FOLDERS = ['state', 'state/archive', 'plans', 'plans/archive'];
/** Git's own folder: what is written there is no file of the project. */
const OF_GIT = /^\.git$/i;

export interface Mirror {
  /** The top level of the workspace, without links. */
  readonly root: string;
  /** Relative to it. */
  readonly name: string;
  /** Without links. */
  readonly folder: string;
}

/**
 * @param root of the workspace
 * @param stateDir as its owner has named it
 * @throws RefusedError with the code `outside` if it is not a folder inside the workspace
 */
export function mirrorAt(root: string, stateDir: string): Mirror {
  const parts = partsOf(stateDir);
  if (parts.some((part) => OF_GIT.test(part)))
    throw new RefusedError({ code: 'outside', message: `${JSON.stringify(stateDir)} cannot be used: it is git's own` });
  return { root, name: parts.join('/'), folder: pathBelow(root, stateDir) };
}

/**
 * Makes what is missing, and lists the folder in git's own exclude file.
 * @returns the folders that were missing, relative to the workspace; and why git was not told to exclude it, in a clause. Null if it was
 * @throws RefusedError as {@link mirrorAt}; the file system's error
 */
export function makeMirror({ root, name }: Mirror): { readonly made: string[]; readonly fault: string | null } {
  const made = FOLDERS.flatMap((folder) => makeBelow(root, `${name}/${folder}`)).map((path) => relative(root, path));
  return { made, fault: excludeFolder(root, name) };
}

/** @returns the path of a file in it, without links. @throws RefusedError if it leads out of the folder */
export function placeIn({ folder }: Mirror, path: string): string {
  return pathBelow(folder, path);
}

export function activeIn(mirror: Mirror): string {
  return placeIn(mirror, ACTIVE);
}

export function archivedIn(mirror: Mirror, sessionId: string): string {
  return placeIn(mirror, `state/archive/${sessionId}.md`);
}

/** @returns the path of the active session's text, relative to the workspace: it stands for the mirror in the list of an archiving */
export function activeName({ name }: Pick<Mirror, 'name'>): string {
  return `${name}/${ACTIVE}`;
}

/** @returns the name of the mirror in the list of an archiving; null if it has none */
export function mirrorIn(documents: readonly string[]): string | null {
  const found = documents.find((path) => path.endsWith(`/${ACTIVE}`));
  return found === undefined ? null : found.slice(0, -`/${ACTIVE}`.length);
}

/** Whether a path, relative to the workspace, is a plan of the mirror that is not in its archive. */
export function isPlan({ name }: Pick<Mirror, 'name'>, path: string): boolean {
  return path.startsWith(`${name}/plans/`) && !path.startsWith(`${name}/plans/archive/`);
}
