/** What keeps each project's agents away from the bridge, and what an agent can reach if nothing does. */
import { fileURLToPath } from 'node:url';
import type { Project, Settings } from '../../../src/config/settings.js';
import { UsageError } from '../../../src/errors.js';
import type { Logger } from '../../../src/log/logger.js';
import { whyNotAs } from './agentUser.js';
import type { Confinement } from './contract.js';
import { whyNoSandbox } from './sandbox.js';

/** In one sentence, for the log and for the doctor. */
export const WHAT_IS_OPEN =
  "its agents run as the bridge's own user without a sandbox, and can read the bridge's environment with its tokens, its logs and its secret files, reach its Redis, and signal the bridge";

/**
 * @param trouble why bubblewrap does not work here; null if it does
 * @returns what keeps the project's agents away
 */
export function isolationOf({ isolation }: Project, trouble: string | null = whyNoSandbox()): 'bubblewrap' | 'none' {
  return isolation ?? (trouble === null ? 'bubblewrap' : 'none');
}

/**
 * @param projects those served here
 * @throws UsageError if one demands bubblewrap and it does not work here
 */
export function refuseWithoutSandbox(projects: readonly Project[], trouble?: string | null): void {
  const demanding = projects.filter(({ isolation }) => isolation === 'bubblewrap');
  if (demanding.length === 0) return;
  const why = trouble === undefined ? whyNoSandbox() : trouble;
  if (why === null) return;
  const names = demanding.map(({ key }) => `projects.${key}.isolation`).join(', ');
  throw new UsageError(`${names}: ${why}; fix that, or set "isolation" to "none" and read docs/agents.md`);
}

/** @throws UsageError if agents are to run as another user, and this process may not start them so */
export function refuseUserWithoutRights({ agentUser }: Settings): void {
  const trouble = whyNotAs(agentUser);
  if (trouble !== null) throw new UsageError(`WATCHKEEPER_AGENT_USER: ${trouble}; see docs/agents.md`);
}

/** Logs, for each project whose agents are not confined, what they can reach; as a warning if nobody chose that. */
export function warnOfOpenAgents({ projects, agentUser }: Settings, logger: Logger): void {
  if (agentUser !== null) return;
  for (const project of [...projects.values()].filter(({ isServedHere }) => isServedHere)) {
    const name = `project "${project.key}"`;
    if (project.isolation === 'none') logger.info(`${name}: ${WHAT_IS_OPEN}`);
    else if (isolationOf(project) === 'none') logger.warn(`${name}: ${whyNoSandbox()}: ${WHAT_IS_OPEN}`);
  }
}

/** @returns what the project's agents may write and may not see; null if they are not confined */
export function confinementOf(settings: Settings, projectKey: string): Confinement | null {
  const project = settings.projects.get(projectKey);
  if (project === undefined || project.isolation === 'none' || isolationOf(project) === 'none') return null;
  const { logsFolder, ownFiles, redisUrl } = settings;
  const socket = redisUrl?.startsWith('unix:') ? [fileURLToPath(redisUrl.replace(/^unix:/, 'file:'))] : [];
  return {
    directories: [project.directory, ...project.places.map(({ directory }) => directory)],
    kept: ownFiles.settled,
    masked: [logsFolder, ...ownFiles.secret, ...socket],
  };
}
