/** Where agents of this host work. A directory may be away for a while: a disk that is not mounted, a checkout being moved. */
import { stat } from 'node:fs/promises';
import type { Project } from './settings.js';

export interface ProjectDirectory {
  readonly projectKey: string;
  /** Absolute. */
  readonly path: string;
}

/** @returns every directory that an agent may be sent to on this host, each once per project */
export function servedDirectories(projects: ReadonlyMap<string, Project>): ProjectDirectory[] {
  return [...projects.values()]
    .filter(({ isServedHere }) => isServedHere)
    .flatMap(({ key: projectKey, directory, places }) =>
      [...new Set([directory, ...places.map((place) => place.directory)])].map((path) => ({ projectKey, path })),
    );
}

/** @returns false also where it cannot be looked at */
export async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
