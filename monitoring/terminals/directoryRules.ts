/** The project of a terminal's directory. Its rules judge the session. */
import { sep } from 'node:path';
import { realOf } from '../../memory/workspaces/workspace.js';
import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import type { Project, ProjectRules } from '../../src/config/settings.js';

export interface DirectoryRules {
  /** Null if it is in no project's directory. */
  readonly project: string | null;
  readonly rules: ProjectRules;
}

const USUAL: DirectoryRules = {
  project: null,
  rules: { thresholds: DEFAULT_THRESHOLDS, actions: DEFAULT_ACTIONS },
};

/** @param directory null if it is not known */
export function rulesIn(projects: Iterable<Project>, directory: string | null): DirectoryRules {
  const project = directory === null ? null : nearest([...projects], realOf(directory));
  return project === null ? USUAL : { project: project.key, rules: project };
}

export function isOfProject(project: Pick<Project, 'directory' | 'places'>, directory: string): boolean {
  return directoriesOf(project).some((own) => isWithin(own, directory));
}

/** @param own a real path */
export function isWithin(own: string, directory: string): boolean {
  return isIn(own, realOf(directory));
}

/** One project may lie in the directory of another. */
function nearest(projects: readonly Project[], directory: string): Project | null {
  let best: { readonly project: Project; readonly length: number } | null = null;
  for (const project of projects) {
    for (const own of directoriesOf(project)) {
      if (isIn(own, directory) && own.length > (best?.length ?? -1)) best = { project, length: own.length };
    }
  }
  return best?.project ?? null;
}

function directoriesOf({ directory, places }: Pick<Project, 'directory' | 'places'>): string[] {
  return [directory, ...places.map((place) => place.directory)];
}

function isIn(own: string, directory: string): boolean {
  return directory === own || directory.startsWith(own.endsWith(sep) ? own : `${own}${sep}`);
}
