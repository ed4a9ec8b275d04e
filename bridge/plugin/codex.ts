/** Codex: what it has of the plugin, and its own installer. It copies the plugin, and runs hooks only if a person trusts them. */

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
  type HookState,
  MARKETPLACE,
  PLUGIN,
  PLUGIN_ID,
  type PluginAgent,
  parsedJson,
  unknownLook,
} from './agent.js';
import { isOutdated } from './copiedFolder.js';
import type { Trouble } from './installation.js';
import { skillsByHand } from './skillsByHand.js';
import { lookAtServer, MISSING, NO_SERVER, OFF, SERVER, type ServerLook, serverLine } from './toolServer.js';
import { byHandTrouble, twiceTrouble } from './troubles.js';

const plugins = z.object({
  installed: z.array(
    z.object({
      pluginId: z.string(),
      name: z.string(),
      marketplaceName: z.string().optional(),
      version: z.string().optional(),
      enabled: z.boolean(),
      source: z.object({ path: z.string().optional() }).optional(),
    }),
  ),
});
const marketplaces = z.object({ marketplaces: z.array(z.object({ name: z.string(), root: z.string() })) });
const servers = z.array(z.object({ name: z.string(), enabled: z.boolean(), transport: z.unknown() }));
const answer = z.object({
  id: z.literal(2),
  result: z.object({
    data: z.array(
      z.object({
        hooks: z.array(z.object({ pluginId: z.string().nullish(), enabled: z.boolean(), trustStatus: z.string() })),
      }),
    ),
  }),
});
const ANSWER_LIMIT_MS = 10 * SECOND;

export const codex: PluginAgent = {
  name: 'codex',
  title: 'Codex',
  next: null,
  look,
  installing: (root, found) => [
    // It refuses another source for a name that it knows.
    ...(found?.marketplaces?.some((source) => source !== root) ? [removeMarketplace] : []),
    ['codex', 'plugin', 'marketplace', 'add', root],
    ['codex', 'plugin', 'add', PLUGIN_ID],
  ],
  removing: (seen) => {
    const found = seen?.plugins ?? AS_INSTALLED.plugins;
    const { length } = seen?.marketplaces ?? AS_INSTALLED.marketplaces;
    return [
      ...found.map(({ id }): AgentCommand => ['codex', 'plugin', 'remove', id]),
      ...(length === 0 ? [] : [removeMarketplace]),
    ];
  },
};
const removeMarketplace: AgentCommand = ['codex', 'plugin', 'marketplace', 'remove', MARKETPLACE];

async function look(asker: Asker): Promise<AgentLook> {
  const unanswered: Trouble[] = [];
  const listed = await askForJson(['codex', 'plugin', 'list', '--json'], asker, plugins, unanswered);
  const known = await askForJson(['codex', 'plugin', 'marketplace', 'list', '--json'], asker, marketplaces, unanswered);
  const sources = known?.marketplaces.filter(({ name }) => name === MARKETPLACE).map(({ root }) => root) ?? null;
  if (listed === null) return unknownLook('codex', sources, unanswered);
  const trouble = [...unanswered];
  const ours = listed.installed.filter(({ name }) => name === PLUGIN);
  const found = ours.map(
    ({ pluginId, enabled }): FoundPlugin => ({ id: pluginId, scope: 'user', enabled, project: null }),
  );
  const byHand = skillsByHand(skillFolders(asker.surroundings));
  const isOn = found.some(({ enabled }) => enabled);
  const isSwitchedOff = isOn && (await areHooksOff(asker));
  const hooks = isSwitchedOff ? 'off' : isOn ? await hooksOf(asker) : found.length > 0 ? 'off' : 'none';
  if (found.length > 0 && !isOn)
    trouble.push({ found: 'the plugin is disabled', remedy: 'start `codex`, type /plugins, and enable watchkeeper' });
  const server = isOn ? await serverIn(asker, trouble) : NO_SERVER;
  trouble.push(
    ...server.trouble,
    ...(isSwitchedOff ? [SWITCHED_OFF] : hookTrouble(hooks, isOn)),
    ...ours.flatMap((plugin) => copyTrouble(plugin, asker.surroundings)),
    ...twiceTrouble(found, ({ id }) => shellLine(['codex', 'plugin', 'remove', id])),
    ...byHandTrouble(byHand, isOn),
  );
  return {
    agent: 'codex',
    plugins: found,
    marketplaces: sources,
    hooks,
    off_here: isSwitchedOff,
    skills: isOn ? 'plugin' : byHand.length > 0 ? 'by hand' : 'none',
    server: server.state,
    unanswered,
    trouble,
  };
}

/** It hands on these, and those that the server asks for. */
const HANDED_ON = ['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];

async function serverIn(asker: Asker, trouble: Trouble[]): Promise<ServerLook> {
  const listed = await askForJson(['codex', 'mcp', 'list', '--json'], asker, servers, trouble);
  if (listed === null) return { state: 'unknown', trouble: [] };
  const ours = listed.find(({ name }) => name === SERVER);
  const line = serverLine.safeParse(ours?.transport).data;
  if (ours === undefined || line === undefined) return MISSING;
  return ours.enabled ? lookAtServer(line, asker, [...HANDED_ON, ...(line.env_vars ?? [])]) : OFF;
}

const SWITCHED_OFF: Trouble = {
  found: 'all hooks are off here: its feature `hooks` is switched off, by its configuration or that of this project',
  remedy: 'run: codex features enable hooks; or remove `hooks = false` from .codex/config.toml',
};

/** An older Codex has no such list, and says nothing of it. */
async function areHooksOff({ run, surroundings: { directory } }: Asker): Promise<boolean> {
  const end = await run({ program: 'codex', args: ['features', 'list'], directory, limitMs: ANSWER_LIMIT_MS });
  return end.kind === 'exited' && /^hooks\s.*\sfalse\s*$/m.test(end.out);
}

/** No command shows whether hooks are trusted; the server that the program has for its other surfaces does. */
async function hooksOf({ run, surroundings }: Asker): Promise<HookState> {
  const { directory } = surroundings;
  const messages = [
    { id: 1, method: 'initialize', params: { clientInfo: { name: 'watchkeeper', version: '0' } } },
    { method: 'initialized' },
    { id: 2, method: 'hooks/list', params: { cwds: [directory] } },
  ];
  const end = await run({
    program: 'codex',
    args: ['app-server'],
    directory,
    limitMs: ANSWER_LIMIT_MS,
    question: {
      lines: messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message })),
      isAnswer: (line) => z.object({ id: z.literal(2) }).safeParse(parsedJson(line)).success,
    },
  });
  const lines = end.kind === 'exited' ? end.out.split('\n') : [];
  const found = lines.flatMap((line) => answer.safeParse(parsedJson(line)).data?.result.data ?? []);
  const hooks = found.flatMap((place) => place.hooks).filter(({ pluginId }) => pluginId?.startsWith(`${PLUGIN}@`));
  if (hooks.length === 0) return 'unknown';
  if (hooks.some(({ enabled }) => !enabled)) return 'off';
  return hooks.every(({ trustStatus }) => trustStatus === 'trusted' || trustStatus === 'managed') ? 'on' : 'untrusted';
}

function hookTrouble(hooks: HookState, isOn: boolean): Trouble[] {
  const remedy = 'start `codex`, and choose to trust them when it asks (or type /hooks there)';
  if (hooks === 'untrusted')
    return [{ found: 'it runs no hook that is new or changed before a person trusts it', remedy, isNext: true }];
  if (hooks === 'off' && isOn) return [{ found: 'some of its hooks are switched off', remedy }];
  return hooks === 'unknown'
    ? [{ found: 'Codex did not say whether its hooks run', remedy: 'start `codex` and type /hooks' }]
    : [];
}

/** An older copy works; its skills are the old ones. Nothing is said if the copy is somewhere else. */
function copyTrouble(plugin: z.infer<typeof plugins>['installed'][number], surroundings: Surroundings): Trouble[] {
  const { name, marketplaceName = '', version = '', source } = plugin;
  const copy = join(codexHome(surroundings), 'plugins/cache', marketplaceName, name, version);
  if (!isOutdated(copy, source?.path ?? '')) return [];
  return [
    {
      found: `its copy of the plugin is older than ${source?.path}`,
      remedy: 'run `watchkeeper plugin install`, then trust the hooks again',
    },
  ];
}

function skillFolders(surroundings: Surroundings): string[] {
  const { directory, variables } = surroundings;
  const user = variables.HOME ?? '/';
  return [join(codexHome(surroundings), 'skills'), join(user, '.agents/skills'), join(directory, '.agents/skills')];
}

function codexHome({ variables: { CODEX_HOME, HOME = '/' } }: Surroundings): string {
  return CODEX_HOME || join(HOME, '.codex');
}
