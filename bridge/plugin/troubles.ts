/** Faults that the plugin can have in any agent. */
import type { FoundPlugin } from './agent.js';
import type { Trouble } from './installation.js';

/**
 * Finds a plugin that is installed twice. Those of two projects are not one too many.
 * @param remove the command that takes one of them away
 */
export function twiceTrouble(found: readonly FoundPlugin[], remove: (plugin: FoundPlugin) => string): Trouble[] {
  const on = found.filter(({ enabled }) => enabled);
  const everywhere = on.filter(({ project }) => project === null);
  const others = on.filter((plugin) => plugin !== everywhere[0]);
  const isTwice = everywhere.length > 0 ? others.length > 0 : new Set(on.map(({ id }) => id)).size > 1;
  if (!isTwice) return [];
  const surplus = others.at(-1);
  return [
    {
      found: `the plugin is installed ${on.length === 2 ? 'twice' : `${on.length} times`}: ${on.map(inWords).join(' and ')}`,
      remedy: `keep one, for example: ${surplus === undefined ? '' : remove(surplus)}`,
    },
  ];
}

/**
 * @param skills their folders
 * @param hasPlugin whether the agent has the plugin, too
 */
export function byHandTrouble(skills: readonly string[], hasPlugin: boolean): Trouble[] {
  const [first] = skills;
  if (first === undefined) return [];
  const named = skills.length === 1 ? first : `${first} and ${skills.length - 1} more`;
  if (hasPlugin)
    return [{ found: `its skills are there a second time, copied by hand: ${named}`, remedy: 'remove the copies' }];
  return [
    {
      found: `skills were copied by hand, without hooks: ${named}; no session is recorded by itself`,
      remedy: 'remove the copies, and run `watchkeeper plugin install`',
    },
  ];
}

function inWords({ id, scope, project }: FoundPlugin): string {
  return `${id} (${scope}${project === null ? '' : ` ${project}`})`;
}
