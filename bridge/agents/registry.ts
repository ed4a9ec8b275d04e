/** Which agents there are. A project names one by its kind. */
import { z } from 'zod';
import { didYouMean } from '../../src/config/didYouMean.js';
import { Faults } from '../../src/config/faults.js';
import type { Project } from '../../src/config/settings.js';
import { claudeOptions } from './claude/settings.js';
import { createClaudeAgent } from './claude.js';
import { commandOptions } from './command/settings.js';
import { createCommandAgent } from './command.js';
import type { Agent } from './contract.js';
import { createScriptedAgent } from './scripted.js';

/** @param baseFolder what relative paths begin at */
type Make<Options> = (options: Options, baseFolder: string) => Agent;

/** @returns null where the options are not allowed; the faults say why */
type Maker = (where: string, options: unknown, baseFolder: string, faults: Faults) => Agent | null;

const scriptedOptions = z.strictObject({ scenario: z.string().min(1).optional() });

const SCHEMAS = { scripted: scriptedOptions, claude: claudeOptions, command: commandOptions } as const;

const MAKERS: Readonly<Record<string, Maker>> = {
  scripted: maker(SCHEMAS.scripted, ({ scenario }, baseFolder) =>
    createScriptedAgent({ baseFolder, ...(scenario !== undefined && { scenario }) }),
  ),
  claude: maker(SCHEMAS.claude, (options) => createClaudeAgent(options)),
  command: maker(SCHEMAS.command, (options) => createCommandAgent(options)),
};

function maker<Options>(schema: z.ZodType<Options>, make: Make<Options>): Maker {
  return (where, options, baseFolder, faults) => {
    const checked = faults.check(where, schema, options);
    return checked === undefined ? null : make(checked, baseFolder);
  };
}

/**
 * @returns the agent of each project, by the project's key
 * @throws UsageError with every project whose agent is unknown or not configured as it needs
 */
export function createAgents(projects: Iterable<Project>): Map<string, Agent> {
  const agents = new Map<string, Agent>();
  const faults = new Faults();
  for (const { key, agent } of projects) {
    const where = `projects.${key}.agent`;
    const make = Object.hasOwn(MAKERS, agent.kind) ? MAKERS[agent.kind] : undefined;
    if (make === undefined) {
      const kinds = Object.keys(MAKERS);
      faults.add(
        `${where}.kind: no agent ${JSON.stringify(agent.kind)}${didYouMean(agent.kind, kinds)} (known: ${kinds.join(', ')})`,
      );
      continue;
    }
    const { baseFolder, ...options } = agent.options;
    const made = make(where, options, typeof baseFolder === 'string' ? baseFolder : '.', faults);
    if (made !== null) agents.set(key, made);
  }
  faults.throwIfAny();
  return agents;
}

/** @returns the names of the options of each kind of agent, for the documents */
export function agentOptions(): Record<string, string[]> {
  return Object.fromEntries(Object.entries(SCHEMAS).map(([kind, schema]) => [kind, Object.keys(schema.shape)]));
}
