/** The walls between each project's agents and the bridge with its operator, and all that an agent can reach without them. */

import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Project, Settings } from '../../../src/config/settings.js';
import { UsageError } from '../../../src/errors.js';
import { readPlainFileSync } from '../../../src/files/plainFile.js';
import { homeOfUser } from '../../../src/host/homeOfUser.js';
import type { Logger } from '../../../src/log/logger.js';
import { configuredWords, settingsOf } from './agentSettings.js';
import { whyNotAs } from './agentUser.js';
import type { Confinement } from './contract.js';
import { isWithin, leadsOverLinkIn, type Mount, outermost, realOf } from './mounts.js';
import { type Trouble, whyNoSandbox } from './sandbox.js';

/** In one sentence, for the log and for the doctor. */
export const WHAT_IS_OPEN =
  "its agents run as the bridge's own user without a sandbox, and can read the bridge's environment with its tokens, its logs and its secret files, reach its Redis, signal the bridge, and read and change everything in that user's home";

/** @returns why no sandbox can hold the project's agents; null if one can */
export function whyNotConfined(project: Project, settings: Settings): Trouble | null {
  const trouble = whyNoSandbox(settings.agentUser);
  if (trouble !== null || settings.agentUser !== null) return trouble;
  const why = aroundHome(project, settings) ?? replaceable(project, settings);
  return why === null ? null : { why, isMissing: false };
}

function aroundHome(project: Project, { agentEnvironment }: Settings): string | null {
  const home = realOf(agentEnvironment.HOME ?? homeOfUser() ?? '/');
  const around = directoriesOf(project).find((directory) => home !== null && isWithin(directory, home));
  return around === undefined ? null : `${around} contains the home folder, which a sandbox hides`;
}

/** A path that is hidden or kept by its name must not lead over a link that an agent can replace, or be made by an agent. */
function replaceable(project: Project, { logsFolder, ownFiles }: Settings): string | null {
  const writable = outermost(directoriesOf(project));
  const linked = [logsFolder, ...ownFiles.settled, ...ownFiles.secret].find((path) => leadsOverLinkIn(writable, path));
  if (linked !== undefined) return `${linked} is a link in a directory in which its agents write`;
  const memory = ownFiles.memories.find((path) => writable.some((folder) => isWithin(folder, path)));
  return memory === undefined ? null : `session memory, ${memory}, is in a directory in which its agents write`;
}

/** @returns whether the project's agent plays a file and runs no program of others, and no isolation was asked for */
export function isHarmless({ isolation, agent }: Project): boolean {
  return isolation === null && agent.kind === 'scripted';
}

export function isolationOf({ isolation }: Project, trouble: Trouble | null): 'bubblewrap' | 'none' {
  return isolation ?? (trouble === null ? 'bubblewrap' : 'none');
}

/** @returns why the bridge does not run these agents, and what to do: a sandbox is missing, or they would be root; null if it does */
export function whyRefused(project: Project, { agentUser }: Pick<Settings, 'agentUser'>, trouble: Trouble | null) {
  if (trouble === null || project.isolation === 'none') return null;
  const isOfRoot = process.getuid?.() === 0 && agentUser === null;
  if (project.isolation === null && !isOfRoot && trouble.isMissing) return null;
  const remedy = isOfRoot ? 'start the bridge as another user, set WATCHKEEPER_AGENT_USER to one' : 'fix that';
  return { why: trouble.why, remedy: `${remedy}, or set "isolation" to "none" and read docs/agents.md` };
}

/** @throws UsageError for the first project whose agents are not run, as {@link whyRefused}; a harmless one is */
export function refuseOpenAgents(projects: readonly Project[], settings: Settings): void {
  for (const project of projects) if (!isHarmless(project)) refuseOpen(project, settings);
}

/** @throws UsageError as {@link whyRefused} */
export function refuseOpen(project: Project, settings: Settings): void {
  const refusal = whyRefused(project, settings, whyNotConfined(project, settings));
  if (refusal !== null) throw new UsageError(`projects.${project.key}.isolation: ${refusal.why}; ${refusal.remedy}`);
}

/** @throws UsageError if agents are to run as another user, and this process may not start them so */
export function refuseUserWithoutRights({ agentUser }: Settings): void {
  const trouble = whyNotAs(agentUser);
  if (trouble !== null) throw new UsageError(`WATCHKEEPER_AGENT_USER: ${trouble}; see docs/agents.md`);
}

/** Logs all that agents of unconfined projects can reach; as a warning if the operator did not choose that. */
export function warnOfOpenAgents(settings: Settings, logger: Logger): void {
  if (settings.agentUser !== null) return;
  for (const project of [...settings.projects.values()].filter(({ isServedHere }) => isServedHere)) {
    const name = `project "${project.key}"`;
    const trouble = project.isolation === 'none' ? null : whyNotConfined(project, settings);
    if (project.isolation === 'none') logger.info(`${name}: ${WHAT_IS_OPEN}`);
    else if (trouble !== null && !isHarmless(project)) logger.warn(`${name}: ${trouble.why}: ${WHAT_IS_OPEN}`);
  }
}

/** @returns the files that the project's agents may write, read and not see; null if they are not confined */
export function confinementOf(settings: Settings, projectKey: string): Confinement | null {
  const project = settings.projects.get(projectKey);
  if (project === undefined || isolationOf(project, whyNotConfined(project, settings)) === 'none') return null;
  const { logsFolder, ownFiles, redisUrl, agentUser, agentEnvironment } = settings;
  const socket = redisUrl?.startsWith('unix:') ? [fileURLToPath(redisUrl.replace(/^unix:/, 'file:'))] : [];
  const directories = directoriesOf(project);
  const home = agentEnvironment.HOME ?? homeOfUser() ?? '/';
  const others = [...settings.projects.values()].filter((other) => other !== project).flatMap(directoriesOf);
  const ofAgents = [...directories, ...others, join(logsFolder, 'homes')];
  return {
    directories,
    repositories: directories.flatMap((path) => linkedRepository(path, ofAgents)),
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

const LINK = 'gitdir: ';
const LONGEST_BYTES = 8 * 1024;
/** The entries that every git folder has. */
const PARTS = ['HEAD', 'objects', 'refs'];
/** Entries that name programs that git runs for the repository's next user, and those that belong to its other worktrees. */
const KEPT = ['config', 'config.worktree', 'hooks', 'modules', 'worktrees'];

/**
 * A linked worktree keeps its commits in the repository that it was made from, so an agent that commits there must write to it.
 * The file `.git` in the worktree is the agent's to change. The link back proves that the two belong together: it lies in a
 * folder where no agent can write.
 * @param directory a real path
 * @param ofAgents real paths of all folders where agents may write without being given this repository
 * @returns mounts of the repository; none if the directory is no linked worktree
 */
function linkedRepository(directory: string, ofAgents: readonly string[]): Mount[] {
  const link = lineOf(join(directory, '.git'));
  const own = link?.startsWith(LINK) ? realOf(resolve(directory, link.slice(LINK.length))) : null;
  if (own === null || basename(dirname(own)) !== 'worktrees') return [];
  const common = dirname(dirname(own));
  if (ofAgents.some((folder) => isWithin(folder, own) || isWithin(common, folder))) return [];
  const [back, shared] = [lineOf(join(own, 'gitdir')), lineOf(join(own, 'commondir'))];
  if (back === null || realOf(resolve(own, back)) !== join(directory, '.git')) return [];
  if (shared === null || realOf(resolve(own, shared)) !== common) return [];
  if (!PARTS.every((part) => existsSync(join(common, part)))) return [];
  const mount = (how: Mount['how'], path: string): Mount => ({ how, source: path, path });
  const kept = KEPT.map((part) => join(common, part)).filter((path) => realOf(path) === path);
  return [mount('--bind', common), ...kept.map((path) => mount('--ro-bind', path)), mount('--bind', own)];
}

/** The agent may have put anything there. */
function lineOf(path: string): string | null {
  try {
    return readPlainFileSync(path, LONGEST_BYTES).trimEnd();
  } catch {
    return null;
  }
}
