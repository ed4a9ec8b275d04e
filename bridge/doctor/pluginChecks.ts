/** Whether the sessions of this user's terminals record themselves. A bridge needs no plugin. */
import { homeFolder, Places } from '../../memory/home/places.js';
import { UsageError } from '../../src/errors.js';
import type { Asker } from '../plugin/agent.js';
import { AGENTS, agentsHere, hasPlugin, statusOf } from '../plugin/status.js';
import { type CheckResult, ok, warning } from './checkResult.js';

const NAME = 'plugin';

/** @param isQuick no agent is asked */
export async function checkPlugin(asker: Asker, isQuick: boolean): Promise<CheckResult[]> {
  const places = placesOf(asker);
  if (places === null) return [];
  const { installation, agents, trouble } = await statusOf(
    places,
    isQuick ? [] : agentsHere(asker.surroundings),
    asker,
  );
  const having = agents.filter(hasPlugin);
  if (having.length === 0 && installation.installation === null && trouble.length === 0)
    return isQuick
      ? []
      : [ok(NAME, 'no agent has it, so sessions in terminals are recorded only by `track` and `work`')];
  const warnings = trouble.map(({ agent, found, remedy }) =>
    warning(NAME, agent === null ? found : `${AGENTS[agent].title}: ${found}`, remedy),
  );
  if (warnings.length > 0) return warnings;
  const shown = having.map(
    ({ agent, hooks, skills, server }) =>
      `${AGENTS[agent].title}: hooks ${hooks}, skills: ${skills}, MCP server ${server}`,
  );
  return [ok(NAME, shown.join('; ') || `the hooks start ${installation.installation?.root}`)];
}

/** @returns null if there is no home, which is a check of its own */
function placesOf({ surroundings }: Asker): Places | null {
  try {
    return new Places(homeFolder(surroundings.variables));
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}
