/** Which agents there are. A project names one by its kind. */

import { z } from 'zod';
import { didYouMean } from '../../src/config/didYouMean.js';
import type { Project } from '../../src/config/settings.js';
import { UsageError } from '../../src/errors.js';
import type { Agent } from './contract.js';
import { createScriptedAgent } from './scripted.js';

const MAKERS: Readonly<Record<string, (options: Readonly<Record<string, unknown>>) => Agent>> = {
  scripted: (options) => {
    const { scenario, baseFolder } = read(scriptedOptions, options);
    return createScriptedAgent({ baseFolder, ...(scenario !== undefined && { scenario }) });
  },
};

const scriptedOptions = z.strictObject({ scenario: z.string().min(1).optional(), baseFolder: z.string() });

function read<T>(schema: z.ZodType<T>, options: Readonly<Record<string, unknown>>): T {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new UsageError(parsed.error.issues.map((issue) => [...issue.path, issue.message].join(': ')).join('; '));
}

/**
 * @returns the agent of each project, by the project's key
 * @throws UsageError with every project whose agent is unknown or not configured as it needs
 */
export function createAgents(projects: Iterable<Project>): Map<string, Agent> {
  const agents = new Map<string, Agent>();
  const faults: string[] = [];
  for (const { key, agent } of projects) {
    const make = Object.hasOwn(MAKERS, agent.kind) ? MAKERS[agent.kind] : undefined;
    const kinds = Object.keys(MAKERS);
    if (make === undefined) {
      faults.push(
        `projects.${key}.agent.kind: no agent ${JSON.stringify(agent.kind)}${didYouMean(agent.kind, kinds)} (known: ${kinds.join(', ')})`,
      );
      continue;
    }
    try {
      agents.set(key, make(agent.options));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      faults.push(`projects.${key}.agent: ${error.message}`);
    }
  }
  if (faults.length > 0)
    throw new UsageError(`the agents cannot be set up:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  return agents;
}
