/** What keeps each project's agents away from the bridge and its operator, and what an agent can reach if nothing does. */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Project, Settings } from '../../../src/config/settings.js';
import { UsageError } from '../../../src/errors.js';
import { homeOfUser } from '../../../src/host/homeOfUser.js';
import type { Logger } from '../../../src/log/logger.js';
import { configuredWords, settingsOf } from './agentSettings.js';
import { whyNotAs } from './agentUser.js';
import type { Confinement } from './contract.js';
import { linkedRepository } from './linkedRepository.js';
import { isWithin, realOf } from './mounts.js';
import { whyNoSandbox } from './sandbox.js';

/** In one sentence, for the log and for the doctor. */
export const WHAT_IS_OPEN =
  "its agents run as the bridge's own user without a sandbox, and can read the bridge's environment with its tokens, its logs and its secret files, reach its Redis, signal the bridge, and read and change everything in that user's home";

type Surroundings = Pick<Settings, 'agentUser' | 'agentEnvironment'>;

/** @returns why no sandbox can hold the project's agents, in a clause; null if one can */
export function whyNotConfined(project: Project, { agentUser, agentEnvironment }: Surroundings): string | null {
  const trouble = whyNoSandbox(agentUser);
  if (trouble !== null || agentUser !== null) return trouble;
  const home = realOf(agentEnvironment.HOME ?? homedir());
  const around = directoriesOf(project).find((directory) => home !== null && isWithin(directory, home));
  return around === undefined ? null : `${around} contains the home folder, which a sandbox hides`;
}

/** @returns whether the project's agent plays a file and runs no program of others, and no isolation was asked for */
export function isHarmless({ isolation, agent }: Project): boolean {
  return isolation === null && agent.kind === 'scripted';
}

/**
 * @param trouble why no sandbox can hold them; null if one can
 * @returns what keeps the project's agents away
 */
export function isolationOf({ isolation }: Project, trouble: string | null): 'bubblewrap' | 'none' {
  return isolation ?? (trouble === null ? 'bubblewrap' : 'none');
}

/**
 * @param trouble why no sandbox can hold the project's agents; null if one can
 * @returns why the bridge does not run them at all, and what to do: the project demands a sandbox, or they would run as root,
 *   which nothing can hold. Null if it runs them
 */
export function whyRefused(
  project: Project,
  { agentUser }: Surroundings,
  trouble: string | null,
): { readonly why: string; readonly remedy: string } | null {
  if (trouble === null || project.isolation === 'none' || isHarmless(project)) return null;
  const isOfRoot = process.getuid?.() === 0 && agentUser === null;
  if (project.isolation === null && !isOfRoot) return null;
  const remedy = isOfRoot ? 'start the bridge as another user, set WATCHKEEPER_AGENT_USER to one' : 'fix that';
  return { why: trouble, remedy: `${remedy}, or set "isolation" to "none" and read docs/agents.md` };
}

/**
 * @param projects those served here
 * @throws UsageError for the first one that is refused, as {@link whyRefused}
 */
export function refuseOpenAgents(projects: readonly Project[], surroundings: Surroundings): void {
  for (const project of projects) {
    const refusal = whyRefused(project, surroundings, whyNotConfined(project, surroundings));
    if (refusal !== null) {
      throw new UsageError(`projects.${project.key}.isolation: ${refusal.why}; ${refusal.remedy}`);
    }
  }
}

/** @throws UsageError if agents are to run as another user, and this process may not start them so */
export function refuseUserWithoutRights({ agentUser }: Settings): void {
  const trouble = whyNotAs(agentUser);
  if (trouble !== null) throw new UsageError(`WATCHKEEPER_AGENT_USER: ${trouble}; see docs/agents.md`);
}

/** Logs, for each project whose agents are not confined, what they can reach; as a warning if nobody chose that. */
export function warnOfOpenAgents(settings: Settings, logger: Logger): void {
  if (settings.agentUser !== null) return;
  for (const project of [...settings.projects.values()].filter(({ isServedHere }) => isServedHere)) {
    const name = `project "${project.key}"`;
    const trouble = project.isolation === 'none' ? null : whyNotConfined(project, settings);
    if (project.isolation === 'none') logger.info(`${name}: ${WHAT_IS_OPEN}`);
    else if (trouble !== null && !isHarmless(project)) logger.warn(`${name}: ${trouble}: ${WHAT_IS_OPEN}`);
  }
}

/** @returns what the project's agents may write, read and not see; null if they are not confined */
export function confinementOf(settings: Settings, projectKey: string): Confinement | null {
  const project = settings.projects.get(projectKey);
  if (project === undefined || isolationOf(project, whyNotConfined(project, settings)) === 'none') return null;
  const { logsFolder, ownFiles, redisUrl, agentUser, agentEnvironment } = settings;
  const socket = redisUrl?.startsWith('unix:') ? [fileURLToPath(redisUrl.replace(/^unix:/, 'file:'))] : [];
  const directories = directoriesOf(project);
  const home = agentEnvironment.HOME ?? homedir();
  const others = [...settings.projects.values()].filter((other) => other !== project).flatMap(directoriesOf);
  return {
    directories: [...directories, ...directories.flatMap((path) => linkedRepository(path) ?? [])],
    kept: ownFiles.settled,
    masked: [logsFolder, ...ownFiles.secret, ...ownFiles.memories, ...socket],
    // Without HOME in its environment, a program asks the system for it.
    hidden: [agentUser === null ? homeOfUser() : undefined, ...others].filter((path) => path !== undefined),
    readable: [...project.readable, ...settingsOf(project.agent, home, agentEnvironment), ...programOf(project)],
    home: agentUser === null ? homeOf(settings, projectKey) : null,
  };
}

/** @returns the folder that the project's agents have for their home under bubblewrap */
export function homeOf({ logsFolder }: Pick<Settings, 'logsFolder'>, projectKey: string): string {
  return join(logsFolder, 'homes', projectKey);
}

function directoriesOf({ directory, places }: Project): string[] {
  return [directory, ...places.map((place) => place.directory)];
}

/** Files that the configuration names in the agent's lines, and a scenario. */
function programOf({ agent }: Project): string[] {
  const { scenario, baseFolder } = agent.options;
  const base = typeof baseFolder === 'string' ? baseFolder : '.';
  const scripts = typeof scenario === 'string' ? [resolve(base, scenario)] : [];
  const words = configuredWords(agent.options).map((word) => word.replace(/^--?[\w-]+=(?=\/)/, ''));
  return [...scripts, ...words.filter(isAbsolute)];
}
