/** The options of each kind of agent in a project's configuration. Loads no agent. */
import * as z from 'zod';
import type { CheckAgent } from '../../src/config/configFile.js';
import { didYouMean } from '../../src/config/didYouMean.js';
import type { Faults } from '../../src/config/faults.js';
import { claudeOptions } from './claude/settings.js';
import { commandOptions } from './command/settings.js';

const scriptedOptions = z.strictObject({
  scenario: z.string('must be the path of a scenario file').min(1, 'must be the path of a scenario file').optional(),
});

export const AGENT_OPTIONS = { scripted: scriptedOptions, claude: claudeOptions, command: commandOptions } as const;
export type AgentKind = keyof typeof AGENT_OPTIONS;

/** @returns whether this kind of agent exists; if not, the faults list those that do */
export function isAgentKind(where: string, kind: string, faults: Faults): kind is AgentKind {
  if (Object.hasOwn(AGENT_OPTIONS, kind)) return true;
  const kinds = Object.keys(AGENT_OPTIONS);
  faults.add(`${where}.kind: no agent ${JSON.stringify(kind)}${didYouMean(kind, kinds)} (known: ${kinds.join(', ')})`);
  return false;
}

/** A command line may hold another party's secret, so no text of an agent's options is shown. */
export const checkAgentOptions: CheckAgent = (where, { kind, ...options }, faults) => {
  if (!isAgentKind(where, kind, faults)) return;
  const schema: z.ZodType = AGENT_OPTIONS[kind];
  faults.check({ where, isPrivate: true }, schema, options);
};
