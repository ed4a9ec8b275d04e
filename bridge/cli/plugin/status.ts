import { packageRoot } from '../../../src/host/program.js';
import type { CommandContext, ExitCode } from '../../command/command.js';
import { columnsOf, renderTable } from '../../command/table.js';
import type { AgentLook } from '../../plugin/agent.js';
import type { InstallationLook } from '../../plugin/installation.js';
import { lookAtSkillAgent, type SkillAgentLook, skillAgentsHere } from '../../plugin/skillAgents.js';
import { AGENTS, hasPlugin, isUnknown, wholeStatusOf } from '../../plugin/status.js';
import type { PluginCall } from './call.js';
import { lookValue, troubleLines } from './lines.js';
import { statusLines } from './skills.js';

export async function status({ context, places, agents, isOfOne, print }: PluginCall): Promise<ExitCode> {
  const asker = { run: context.runProgram, surroundings: context.surroundings };
  const { installation, agents: looks, trouble } = await wholeStatusOf(places, agents, asker);
  const others = isOfOne ? [] : skillLooks(context);
  const isInstalled = looks.some(hasPlugin);
  const unknown = looks.filter(isUnknown);
  const lines = [
    ...renderTable(['AGENT', 'HOOKS', 'SKILLS', 'MCP SERVER', 'PLUGIN'], looks.map(rowOf), {
      columns: columnsOf(context.io),
    }).split('\n'),
    ...(isInstalled || installation.installation !== null ? [`the hooks start ${startedBy(installation)}`] : []),
    ...unknown.map(({ agent }) => `${AGENTS[agent].title} did not say whether it has the plugin`),
    ...(isInstalled || unknown.length > 0
      ? []
      : ['no agent has the plugin; to install it: watchkeeper plugin install']),
    ...troubleLines(trouble, context),
    ...looks.flatMap(lackLine),
    ...others.flatMap(statusLines),
  ];
  const { file, installation: named } = installation;
  print(lines, {
    installation: { file, root: named?.root ?? null, node: named?.node ?? null },
    agents: looks.map(lookValue),
    skill_agents: others,
    trouble,
  });
  return isInstalled && trouble.length === 0 ? 0 : 1;
}

function skillLooks({ surroundings }: CommandContext): SkillAgentLook[] {
  const root = packageRoot();
  return skillAgentsHere(surroundings, root).flatMap((name) => lookAtSkillAgent(name, surroundings, root) ?? []);
}

/** @returns what an agent lacks that has a part; the table says enough of one without the plugin */
function lackLine({ agent, hooks, skills, server }: AgentLook): string[] {
  if (skills === 'none' || skills === 'unknown') return [];
  const missing = [...(hooks === 'on' ? [] : ['hooks']), ...(server === 'on' ? [] : ['the MCP server'])];
  return missing.length === 0 ? [] : [`${AGENTS[agent].title} lacks ${missing.join(' and ')}`];
}

function rowOf({ agent, hooks, off_here, skills, server, plugins }: AgentLook): string[] {
  const named = plugins?.map(({ id, scope, enabled }) => `${id} (${scope}${enabled ? '' : ', disabled'})`);
  return [AGENTS[agent].title, off_here ? `${hooks} here` : hooks, skills, server, pluginWords(named)];
}

function pluginWords(named: readonly string[] | undefined): string {
  return named === undefined ? 'did not answer' : named.join(', ') || 'not installed';
}

function startedBy({ file, installation }: InstallationLook): string {
  return installation === null ? `nothing: there is no usable ${file}` : installation.root;
}
