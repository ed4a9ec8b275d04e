/** Installs the plugin and takes it back. The agents' own installers write the agents' files. */
import type { Places } from '../../memory/home/places.js';
import { type AgentCommand, type Asker, carryOut, type PluginAgent } from './agent.js';
import { removeInstallation, writeInstallation } from './installation.js';

/** A command that was run. */
export interface Done {
  readonly command: AgentCommand;
  /** Null if it worked. */
  readonly fault: string | null;
}

/** @returns the commands of a first installation */
export function commandsOfInstall(agents: readonly PluginAgent[], root: string): AgentCommand[] {
  return agents.flatMap((agent) => agent.installing(root, null));
}

/** @returns the commands that take back a first installation */
export function commandsOfRemoval(agents: readonly PluginAgent[]): AgentCommand[] {
  return agents.flatMap((agent) => agent.removing(null));
}

/**
 * Repeating it changes nothing that is as it should be.
 * @param root of the package
 * @param node the program that runs it
 * @throws UnreachableError if the home of memory cannot be written
 */
export async function install(
  { places, root, node }: { readonly places: Places; readonly root: string; readonly node: string },
  agents: readonly PluginAgent[],
  asker: Asker,
): Promise<Done[]> {
  writeInstallation(places, { root, node });
  const all = await Promise.all(
    agents.map(async (agent) => inTurn(agent.installing(root, await agent.look(asker)), asker)),
  );
  return all.flat();
}

/**
 * An agent that does not say what it has is treated as one that has all: its installer says whether that was so.
 * @param everywhere whether the installation is forgotten, too; false: another agent may need it
 * @throws UnreachableError if the home of memory cannot be written
 */
export async function remove(
  places: Places,
  { agents, everywhere }: { readonly agents: readonly PluginAgent[]; readonly everywhere: boolean },
  asker: Asker,
): Promise<{ readonly done: Done[]; readonly wasInstalled: boolean }> {
  const all = await Promise.all(agents.map(async (agent) => inTurn(agent.removing(await agent.look(asker)), asker)));
  const wasInstalled = everywhere && removeInstallation(places);
  return { done: all.flat(), wasInstalled };
}

/** Stops at a command that fails: those after it would only fail, too. */
async function inTurn(commands: readonly AgentCommand[], asker: Asker): Promise<Done[]> {
  const done: Done[] = [];
  for (const command of commands) {
    const fault = await carryOut(command, asker);
    done.push({ command, fault });
    if (fault !== null) break;
  }
  return done;
}
