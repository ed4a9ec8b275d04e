/** The issues of each configured project: in its repository, or in a folder if there is no token or no repository. */
import { join } from 'node:path';
import { repositoryOf } from '../../../src/config/issuePlaces.js';
import type { Project, Settings } from '../../../src/config/settings.js';
import { GitHubIssues } from './githubIssues.js';
import { LocalIssues } from './localIssues.js';
import { ProjectIssues, type ProjectIssuesOptions } from './projectIssues.js';
import { ReportWatch, type ReportWatchOptions } from './reportWatch.js';

export interface ConfiguredIssuesOptions
  extends Omit<ProjectIssuesOptions, 'projectKey' | 'sink' | 'publicDetail' | 'watch'> {
  /** Where it is noted that a repository refuses reports, and where that is said; absent: nowhere. */
  readonly noted?: Pick<ReportWatchOptions, 'troubles' | 'events'>;
  readonly settings: Settings;
  /** Aborts requests in progress when the process stops. */
  readonly stopping: AbortSignal;
}

export class ConfiguredIssues {
  readonly #options: ConfiguredIssuesOptions;
  readonly #folder: LocalIssues;
  /** One for each configured project: reloading the configuration brings new ones. */
  readonly #made = new WeakMap<Project, ProjectIssues>();

  constructor(options: ConfiguredIssuesOptions) {
    this.#options = options;
    this.#folder = new LocalIssues(join(options.settings.logsFolder, 'issues'), options.clock);
  }

  of(projectKey: string): ProjectIssues | null {
    const project = this.#options.settings.projects.get(projectKey);
    if (project === undefined) return null;
    const issues = this.#made.get(project) ?? this.#make(project);
    this.#made.set(project, issues);
    return issues;
  }

  #make(project: Project): ProjectIssues {
    const { settings, clock, logger, stopping, noted, ...shared } = this.#options;
    const { key: projectKey, publicDetail } = project;
    const access = repositoryOf(settings, project);
    const renamed = (name: string) =>
      logger.warn(
        { project_key: projectKey },
        `${access?.repository} is called ${name} on GitHub: correct the \`repository\` of ${projectKey} in watchkeeper.config.json`,
      );
    const sink = access === null ? this.#folder : new GitHubIssues(access, clock, stopping, renamed);
    const isWatched = access !== null && noted !== undefined;
    const watch = isWatched ? new ReportWatch({ ...noted, clock, logger }, access.repository) : null;
    return new ProjectIssues({ ...shared, projectKey, sink, publicDetail, clock, logger, watch });
  }
}
