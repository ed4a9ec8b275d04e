/** Creates the agents. A project names one by its kind. */
import type * as z from 'zod';
import { Faults } from '../../src/config/faults.js';
import { servedProjects } from '../../src/config/servedPlaces.js';
import type { Project, Settings } from '../../src/config/settings.js';
import { createRedactor } from '../../src/log/redact.js';
import { createClaudeAgent } from './claude.js';
import { createCommandAgent } from './command.js';
import { AGENT_OPTIONS, type AgentKind, isAgentKind } from './options.js';
import type { Agent } from './program/contract.js';
import { refuseOpenAgents } from './program/isolation.js';
import { createScriptedAgent } from './scripted.js';

/** `baseFolder` is the base of relative paths. @returns null if the options are not allowed; the faults say why */
type Maker = (where: string, options: unknown, baseFolder: string, faults: Faults) => Agent | null;

const MAKERS: Readonly<Record<AgentKind, Maker>> = {
  scripted: maker(AGENT_OPTIONS.scripted, ({ scenario }, baseFolder) => createScriptedAgent(scenario, baseFolder)),
  claude: maker(AGENT_OPTIONS.claude, (options) => createClaudeAgent(options)),
  command: maker(AGENT_OPTIONS.command, (options) => createCommandAgent(options)),
};

function maker<Options>(schema: z.ZodType<Options>, make: (options: Options, baseFolder: string) => Agent): Maker {
  return (where, options, baseFolder, faults) => {
    const checked = faults.check({ where, isPrivate: true }, schema, options);
    return checked === undefined ? null : make(checked, baseFolder);
  };
}

/** @throws UsageError naming every project whose agent is unknown or wrongly configured */
export function createAgents(projects: Iterable<Project>): Map<string, Agent> {
  const agents = new Map<string, Agent>();
  const faults = new Faults(createRedactor([]));
  for (const { key, agent } of projects) {
    const where = `projects.${key}.agent`;
    if (!isAgentKind(where, agent.kind, faults)) continue;
    const { baseFolder, ...options } = agent.options;
    const made = MAKERS[agent.kind](where, options, typeof baseFolder === 'string' ? baseFolder : '.', faults);
    if (made !== null) agents.set(key, made);
  }
  faults.throwIfAny();
  return agents;
}

/** The agents of the projects that are served here, exchanged when the configuration is read again. */
export class ServedAgents {
  readonly #settings: Settings;
  #agents: ReadonlyMap<string, Agent> = new Map();

  /** @throws UsageError if an agent cannot be set up, or cannot be kept in as its project demands */
  constructor(settings: Settings) {
    this.#settings = settings;
    this.exchange(settings.projects);
  }

  get(projectKey: string): Agent | undefined {
    return this.#agents.get(projectKey);
  }

  /** @throws UsageError as the constructor; then the old ones stay */
  exchange(projects: Settings['projects']): void {
    const served = servedProjects(projects);
    refuseOpenAgents(served, this.#settings);
    this.#agents = createAgents(served);
  }
}
