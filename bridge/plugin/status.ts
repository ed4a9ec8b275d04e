/** Whether sessions in terminals record themselves: what each agent has of the plugin, and whether its hooks find the program. */
import type { Places } from '../../memory/home/places.js';
import { recordingTroubles } from '../../memory/home/recordable.js';
import type { Surroundings } from '../../memory/sessions/surroundings.js';
import { AGENT_NAMES, type AgentLook, type AgentName, type Asker, isInstalled, type PluginAgent } from './agent.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { nodeTroubles } from './hookNode.js';
import { type InstallationLook, lookAtInstallation, type Trouble } from './installation.js';

export const AGENTS: Readonly<Record<AgentName, PluginAgent>> = { claude, codex };

export interface PluginStatus {
  readonly installation: InstallationLook;
  /** The plugin in each agent on PATH. */
  readonly agents: readonly AgentLook[];
  /** Every fault with its agent; null if it concerns no single one. */
  readonly trouble: readonly (Trouble & { readonly agent: AgentName | null })[];
}

/** @returns the agents that are on PATH */
export function agentsHere(surroundings: Surroundings): PluginAgent[] {
  return AGENT_NAMES.filter((name) => isInstalled(name, surroundings)).map((name) => AGENTS[name]);
}

/** As {@link statusOf}, with the faults that keep started hooks from recording. The doctor checks for these separately. */
export async function wholeStatusOf(
  places: Places,
  agents: readonly PluginAgent[],
  asker: Asker,
): Promise<PluginStatus> {
  const [status, troubles] = await Promise.all([statusOf(places, agents, asker), recordingTroubles(places)]);
  return { ...status, trouble: [...status.trouble, ...troubles.map((trouble) => ({ agent: null, ...trouble }))] };
}

/** @param agents the ones to look at */
export async function statusOf(places: Places, agents: readonly PluginAgent[], asker: Asker): Promise<PluginStatus> {
  const looks = await Promise.all(agents.map((agent) => agent.look(asker)));
  const installation = lookAtInstallation(places);
  const { installation: named } = installation;
  const isMissing = installation.installation === null && installation.trouble.length === 0;
  const isUsed = looks.some(hasPlugin);
  const ofInstallation =
    isMissing && isUsed
      ? [
          {
            found: `${installation.file} is missing, so the hooks do not know which program to start`,
            remedy: 'run `watchkeeper plugin install`',
          },
        ]
      : [...installation.trouble, ...(named === null ? [] : await nodeTroubles(named, asker))];
  return {
    installation,
    agents: looks,
    trouble: [
      ...ofInstallation.map((trouble) => ({ agent: null, ...trouble })),
      ...looks.flatMap(({ agent, trouble }) => trouble.map((each) => ({ agent, ...each }))),
    ],
  };
}

/** @returns false also if the agent did not say: see {@link isUnknown} */
export function hasPlugin({ plugins }: AgentLook): boolean {
  return plugins !== null && plugins.length > 0;
}

/** @returns whether the agent may have the plugin, and did not say */
export function isUnknown({ plugins }: AgentLook): boolean {
  return plugins === null;
}
