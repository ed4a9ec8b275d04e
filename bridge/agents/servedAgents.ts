/** The agents of the projects that are served here, exchanged when the configuration is read again. */
import { servedProjects } from '../../src/config/servedPlaces.js';
import type { Settings } from '../../src/config/settings.js';
import type { Agent } from './program/contract.js';
import { refuseWithoutSandbox } from './program/isolation.js';
import { createAgents } from './registry.js';

export class ServedAgents {
  #agents: ReadonlyMap<string, Agent>;

  /** @throws UsageError if an agent cannot be set up */
  constructor(projects: Settings['projects']) {
    this.#agents = agentsOf(projects);
  }

  get(projectKey: string): Agent | undefined {
    return this.#agents.get(projectKey);
  }

  /** @throws UsageError if an agent cannot be set up; then the old ones stay */
  exchange(projects: Settings['projects']): void {
    this.#agents = agentsOf(projects);
  }
}

function agentsOf(projects: Settings['projects']): ReadonlyMap<string, Agent> {
  const served = servedProjects(projects);
  refuseWithoutSandbox(served);
  return createAgents(served);
}
