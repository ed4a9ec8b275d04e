/** Claude Code: what it has of the plugin, and its own installer. It reads the plugin's folder in place. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Surroundings } from '../../memory/sessions/surroundings.js';
import { shellLine } from '../../src/log/shellWords.js';
import { SECOND } from '../../src/time.js';
import {
  type AgentCommand,
  type AgentLook,
  AS_INSTALLED,
  type Asker,
  askForJson,
  type FoundPlugin,
  MARKETPLACE,
  PLUGIN,
  PLUGIN_ID,
  type PluginAgent,
  unknownLook,
} from './agent.js';
import { hooksSwitchedOff, windowsWithoutHooks } from './claudeSwitches.js';
import type { Trouble } from './installation.js';
import { skillsByHand } from './skillsByHand.js';
import { lookAtServer, MISSING, NO_SERVER, OFF, SERVER, type ServerLook, serverLine } from './toolServer.js';
import { byHandTrouble, twiceTrouble } from './troubles.js';

const ASK_SERVER_LIMIT_MS = 20 * SECOND;
const SWITCHED_OFF = [/^\s*Status:.*\bDisabled\b/im, /^No MCP server named /m];

const plugins = z.array(
  z.object({
    id: z.string(),
    scope: z.string(),
    enabled: z.boolean(),
    projectPath: z.string().optional(),
    errors: z.array(z.string()).optional(),
    mcpServers: z.record(z.string(), z.unknown()).optional(),
    readFromFolder: z.string().optional(),
    installPath: z.string().optional(),
  }),
);
const marketplaces = z.array(z.object({ name: z.string(), path: z.string().optional(), repo: z.string().optional() }));

export const claude: PluginAgent = {
  name: 'claude',
  title: 'Claude Code',
  next: 'Claude Code: sessions that start from now on are recorded; those that run already are not',
  look,
  installing: (root) => [
    ['claude', 'plugin', 'marketplace', 'add', root],
    ['claude', 'plugin', 'install', PLUGIN_ID],
  ],
  removing: (seen) => {
    const found = seen?.plugins ?? AS_INSTALLED.plugins;
    const { length } = seen?.marketplaces ?? AS_INSTALLED.marketplaces;
    return [
      ...found
        .filter(({ scope }) => scope === 'user')
        .map(({ id }): AgentCommand => ['claude', 'plugin', 'uninstall', id, '--scope', 'user']),
      ...(length === 0 ? [] : [['claude', 'plugin', 'marketplace', 'remove', MARKETPLACE] as const]),
    ];
  },
};

async function look(asker: Asker): Promise<AgentLook> {
  const unanswered: Trouble[] = [];
  const listed = await askForJson(['claude', 'plugin', 'list', '--json'], asker, plugins, unanswered);
  const known = await askForJson(
    ['claude', 'plugin', 'marketplace', 'list', '--json'],
    asker,
    marketplaces,
    unanswered,
  );
  const sources = known?.filter(({ name }) => name === MARKETPLACE).map(sourceOf) ?? null;
  if (listed === null) return unknownLook('claude', sources, unanswered);
  const trouble = [...unanswered];
  const ours = listed.filter(({ id }) => id.startsWith(`${PLUGIN}@`));
  const found = ours.map(
    ({ id, scope, enabled, projectPath }): FoundPlugin => ({ id, scope, enabled, project: projectPath ?? null }),
  );
  const { configuration, skills } = foldersOf(asker.surroundings);
  const byHand = skillsByHand(skills);
  const isOn = found.some(({ enabled }) => enabled);
  const off = hooksSwitchedOff(configuration, asker.surroundings);
  for (const { id, errors = [] } of ours)
    for (const error of errors)
      trouble.push({
        found: `Claude Code cannot load ${id}: ${error}`,
        remedy: 'run `watchkeeper plugin install` again',
      });
  if (found.length > 0 && !isOn)
    trouble.push({ found: 'the plugin is disabled', remedy: `run: claude plugin enable ${found[0]?.id ?? PLUGIN_ID}` });
  if (isOn && off !== null) trouble.push({ found: off.found, remedy: off.remedy });
  if (isOn) trouble.push(...windowsWithoutHooks(asker.surroundings));
  const used = ours.find(({ enabled }) => enabled);
  const server = used === undefined ? NO_SERVER : await serverIn(used, asker);
  trouble.push(...server.trouble, ...twiceTrouble(found, uninstallCommand), ...byHandTrouble(byHand, isOn));
  return {
    agent: 'claude',
    plugins: found,
    marketplaces: sources,
    hooks: isOn ? (off === null ? 'on' : 'off') : found.length > 0 ? 'off' : 'none',
    off_here: isOn && off?.isHere === true,
    skills: isOn ? 'plugin' : byHand.length > 0 ? 'by hand' : 'none',
    server: server.state,
    unanswered,
    trouble,
  };
}

/** Its list has the servers of a plugin that has some; an older program's list has none. */
async function serverIn(plugin: z.infer<typeof plugins>[number], asker: Asker): Promise<ServerLook> {
  const { mcpServers, readFromFolder, installPath } = plugin;
  const folder = readFromFolder ?? installPath;
  if (mcpServers === undefined && (folder === undefined || existsSync(join(folder, '.mcp.json'))))
    return { state: 'unknown', trouble: [] };
  const line = serverLine.safeParse(mcpServers?.[SERVER]).data;
  if (line === undefined) return MISSING;
  return (await isSwitchedOff(asker)) ? OFF : lookAtServer(line, asker, null);
}

/** For this directory, or denied by a setting: then it knows no such server. If it says neither, nothing is assumed. */
async function isSwitchedOff({ run, surroundings: { directory } }: Asker): Promise<boolean> {
  const args = ['mcp', 'get', `plugin:${PLUGIN}:${SERVER}`];
  const end = await run({ program: 'claude', args, directory, limitMs: ASK_SERVER_LIMIT_MS });
  return end.kind === 'exited' && SWITCHED_OFF.some((words) => words.test(`${end.out}\n${end.err}`));
}

function uninstallCommand({ id, scope, project }: FoundPlugin): string {
  const place = project === null ? '' : `${shellLine(['cd', project])} && `;
  return `${place}${shellLine(['claude', 'plugin', 'uninstall', id, '--scope', scope])}`;
}

function sourceOf({ name, path, repo }: z.infer<typeof marketplaces>[number]): string {
  return path ?? repo ?? name;
}

function foldersOf({ directory, variables }: Surroundings) {
  const configuration = variables.CLAUDE_CONFIG_DIR || join(variables.HOME ?? '/', '.claude');
  return { configuration, skills: [join(configuration, 'skills'), join(directory, '.claude/skills')] };
}
