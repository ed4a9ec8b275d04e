/** Where issues are filed: in the project's repository, or in a folder if there is no token or no repository. */
import { join } from 'node:path';
import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import { GitHubIssues } from '../../monitoring/incident/issue/githubIssues.js';
import type { IssueRecords } from '../../monitoring/incident/issue/issueRecords.js';
import { LocalIssues } from '../../monitoring/incident/issue/localIssues.js';
import { ProjectIssues } from '../../monitoring/incident/issue/projectIssues.js';
import { IncidentReporter } from '../../monitoring/incident/saga/incidentReporter.js';
import type { Project } from '../../src/config/settings.js';
import type { Foundation } from './foundation.js';
import { repositoryOf } from './issuePlaces.js';

export function buildIncidentReporter(
  { settings, clock, logger, redact }: Foundation,
  records: IssueRecords,
  events: DurableEvents,
  stopping: AbortSignal,
): IncidentReporter {
  const folder = new LocalIssues(join(settings.logsFolder, 'issues'), clock);
  const build = (project: Project) => {
    const { key: projectKey, publicDetail } = project;
    const access = repositoryOf(settings, project);
    const renamed = (name: string) =>
      logger.warn(
        { project_key: projectKey },
        `${access?.repository} is called ${name} on GitHub: correct the \`repository\` of ${projectKey} in watchkeeper.config.json`,
      );
    const sink = access === null ? folder : new GitHubIssues(access, clock, stopping, renamed);
    return new ProjectIssues({ projectKey, sink, records, publicDetail, redact, clock, logger });
  };
  // One for each configured project: reloading the configuration brings new ones.
  const reporters = new WeakMap<Project, ProjectIssues>();
  const reporterOf = (projectKey: string) => {
    const project = settings.projects.get(projectKey);
    if (project === undefined) return null;
    const reporter = reporters.get(project) ?? build(project);
    reporters.set(project, reporter);
    return reporter;
  };
  const isLogWell = () => events.trouble === null;
  return new IncidentReporter({ clock, logsFolder: settings.logsFolder, isLogWell, reporterOf });
}
