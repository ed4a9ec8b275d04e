/** Where the issues of each project go. */
import type { Project, Settings } from '../../src/config/settings.js';

type Access = Pick<Settings, 'github'>;

/** @returns the repository of its issues, with what is needed to write there; null if they are files */
export function repositoryOf({ github }: Access, { repository }: Pick<Project, 'repository'>) {
  return github === null || repository === null ? null : { ...github, repository };
}

/** @returns one clause for the operator: what goes to GitHub, and which projects' issues are files */
export function describeIssuePlaces(settings: Pick<Settings, 'github' | 'projects'>): string {
  const projects = [...settings.projects.values()];
  if (settings.github === null) return 'issues are files in logs/issues (no GITHUB_TOKEN)';
  const inFiles = projects.filter((project) => repositoryOf(settings, project) === null).map(({ key }) => key);
  if (inFiles.length === 0) return 'issues go to GitHub';
  if (inFiles.length === projects.length) return 'issues are files in logs/issues (no project has a `repository`)';
  return `issues go to GitHub, but those of ${inFiles.join(', ')} are files in logs/issues (no \`repository\`)`;
}
