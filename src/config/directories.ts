/**
 * The directories that agents of this host work in. A directory may be missing for a while: a disk that is not mounted, a
 * checkout that is being moved.
 */
import { stat } from 'node:fs/promises';
import { servedProjects } from './servedPlaces.js';
import type { Project } from './settings.js';

export interface ProjectDirectory {
  readonly projectKey: string;
  /** Absolute. */
  readonly path: string;
}

/** @returns every directory that agents may work in on this host, each once per project */
export function servedDirectories(projects: ReadonlyMap<string, Project>): ProjectDirectory[] {
  return servedProjects(projects).flatMap(({ key: projectKey, directory, places }) =>
    [...new Set([directory, ...places.map((place) => place.directory)])].map((path) => ({ projectKey, path })),
  );
}

/** @returns false also if it cannot be checked */
export async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
