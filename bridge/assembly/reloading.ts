/** Reloads the configuration of a running service. */
import { type ConfigSource, describeReload } from '../../src/config/configSource.js';
import type { Project, Settings } from '../../src/config/settings.js';
import { describeError } from '../../src/errors.js';
import type { Logger } from '../../src/log/logger.js';
import type { Agent } from '../agents/program/contract.js';
import { refuseWithoutSandbox, warnOfOpenAgents } from '../agents/program/isolation.js';
import { createAgents } from '../agents/registry.js';
import { checkProjectDirectories } from '../doctor/folderChecks.js';

/** The agents of the projects that are served here, exchanged with them. */
export class ServedAgents {
  #agents: ReadonlyMap<string, Agent>;

  /** @throws UsageError if an agent cannot be set up */
  constructor(projects: ReadonlyMap<string, Project>) {
    this.#agents = agentsOf(projects);
  }

  get(projectKey: string): Agent | undefined {
    return this.#agents.get(projectKey);
  }

  /** @throws UsageError if an agent cannot be set up; then the old ones stay */
  exchange(projects: ReadonlyMap<string, Project>): void {
    this.#agents = agentsOf(projects);
  }
}

function agentsOf(projects: ReadonlyMap<string, Project>): ReadonlyMap<string, Agent> {
  const served = [...projects.values()].filter(({ isServedHere }) => isServedHere);
  refuseWithoutSandbox(served);
  return createAgents(served);
}

/**
 * Never throws: a faulty configuration is logged, and the old one stays.
 * @param agents null for a process that runs none
 */
export async function reloadConfiguration(
  source: ConfigSource,
  agents: ServedAgents | null,
  logger: Logger,
): Promise<void> {
  try {
    const reloaded = await source.reload((next) => agents?.exchange(next));
    logger.info({ ...reloaded }, describeReload(reloaded));
    for (const notice of reloaded.notices) logger.warn(notice);
    if (agents === null) return;
    warnOfOpenAgents(source.settings, logger);
    await warnOfDirectories(source.settings, logger);
  } catch (error) {
    logger.error(`the configuration was not read again, and the old one stays: ${describeError(error)}`);
  }
}

/** For each directory in which agents cannot work properly, logs what to do. */
export async function warnOfDirectories(settings: Settings, logger: Logger): Promise<void> {
  for (const { name, found, remedy } of await checkProjectDirectories(settings)) {
    if (remedy !== null) logger.warn(`${name}: ${found}; ${remedy}`);
  }
}
