/** Where the issues of each project go. */
import type { Project, Settings } from './settings.js';

/** @returns the repository of its issues, with the access to write there; null if they are files */
export function repositoryOf({ github }: Settings, { repository }: Project) {
  return github === null || repository === null ? null : { ...github, repository };
}

/** @returns one clause for the operator: what goes to GitHub, and which projects' issues are files */
export function describeIssuePlaces(settings: Settings): string {
  const projects = [...settings.projects.values()];
  if (settings.github === null) return 'issues are files in logs/issues (no GITHUB_TOKEN)';
  const inFiles = projects.filter((project) => repositoryOf(settings, project) === null).map(({ key }) => key);
  if (inFiles.length === 0) return 'issues go to GitHub';
  if (inFiles.length === projects.length) return 'issues are files in logs/issues (no project has a `repository`)';
  return `issues go to GitHub, but those of ${inFiles.join(', ')} are files in logs/issues (no \`repository\`)`;
}

/** @returns one line for the log of a bridge that is up; `canType` whether a person can type in its terminal */
export function describeService(settings: Settings, canType: boolean): string {
  const projects = [...settings.projects.keys()].join(', ') || 'none';
  const withoutBot = canType ? 'the terminal is the chat' : 'messages come from `watchkeeper enqueue` only';
  const chat = settings.telegram === null ? `${withoutBot} (no TELEGRAM_BOT_TOKEN)` : 'Telegram';
  return `projects ${projects}; ${chat}; ${describeIssuePlaces(settings)}; ${settings.agentConcurrency} agents at once`;
}
