/** The plugin in the real agents, installed from a scratch copy of the package. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { programRunner } from '../../../bridge/command/runProgram.js';
import type { AgentName, Asker } from '../../../bridge/plugin/agent.js';
import { install, remove } from '../../../bridge/plugin/change.js';
import { AGENTS, statusOf } from '../../../bridge/plugin/status.js';
import { Places } from '../../../memory/home/places.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { ownBuild, packageRoot } from '../../../src/host/program.js';
import { MINUTE, SECOND, systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { describeWhereInstalled } from '../../harness/installed.js';
import { patience } from '../../harness/patience.js';
import { afterThisTest } from '../../harness/scope.js';
import { AnthropicPeer } from '../../peers/anthropic/anthropicPeer.js';
import { claudeEnvironment } from '../../peers/anthropic/environment.js';
import { type MessagesRequest, toolResults, userTexts } from '../../peers/anthropic/messages.js';
import { call, say } from '../../peers/modelBlocks.js';
import { CODEX, codexOptions } from '../../peers/openai/codexCli.js';
import { startOpenaiPeer } from '../../peers/openai/openaiPeer.js';

const CLAUDE = { program: 'claude', remedy: 'npm install -g @anthropic-ai/claude-code' };
/** An agent takes some seconds to say anything. */
const LIMIT_MS = 60 * SECOND * patience();

/** Writes down each event with the process that started it, and answers with a context that says which event it was. */
const HOOK = `const fs = require('node:fs');
// Ends are read where the launcher has noted them.
if (process.argv.includes('--spooled')) process.exit(0);
let text = '';
process.stdin.on('data', (chunk) => { text += chunk; });
process.stdin.on('end', () => {
  const { hook_event_name: event, source, reason } = JSON.parse(text);
  const started = fs.readFileSync('/proc/' + process.ppid + '/cmdline', 'utf8').split('\\0')[0];
  fs.appendFileSync(__dirname + '/events', [event, source ?? reason, started.split('/').at(-1)].join(' ') + '\\n');
  const context = { hookEventName: event, additionalContext: 'a context for ' + event };
  if (event.endsWith('Start')) console.log(JSON.stringify({ hookSpecificOutput: context }));
});
`;

function scratch(name: AgentName) {
  const folder = testFolder();
  const [home, root] = [join(folder, 'memory'), join(folder, 'package')];
  for (const path of ['.codex', 'repository', 'package/dist/bridge/hook'])
    mkdirSync(join(folder, path), { recursive: true });
  for (const path of ['plugin', '.claude-plugin'])
    cpSync(join(packageRoot(), path), join(root, path), { recursive: true });
  writeFileSync(join(root, 'dist/bridge/hook/main.cjs'), HOOK);
  cpSync(join(ownBuild(), 'bridge/mcp'), join(root, 'dist/bridge/mcp'), { recursive: true });
  const variables = { PATH: process.env.PATH ?? '', HOME: folder, WATCHKEEPER_HOME: home };
  const surroundings = { directory: join(folder, 'repository'), process: readProcessIdentity('here'), variables };
  const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CODEX_HOME: join(folder, '.codex') };
  const environment = { ...variables, ...quiet };
  const asker: Asker = { run: programRunner(environment, systemClock), surroundings };
  const places = new Places(home);
  const agents = [AGENTS[name]];
  const ends = () =>
    readdirSync(join(home, 'spool')).map((name) => {
      const [, payload = ''] = readFileSync(join(home, 'spool', name), 'utf8').split('\n');
      const { hook_event_name: event, reason } = JSON.parse(payload);
      return `${event} ${reason} noted`;
    });
  const events = () => [
    ...readFileSync(join(root, 'dist/bridge/hook/events'), 'utf8').trim().split('\n'),
    ...(existsSync(join(home, 'spool')) ? ends() : []),
  ];
  return {
    root,
    folder,
    asker,
    environment,
    events,
    install: async (from = root) =>
      (await install({ places, root: from, node: process.execPath }, agents, asker)).map(({ fault }) => fault),
    remove: () => remove(places, { agents, everywhere: true }, asker),
    look: async () => {
      const { agents: looks, trouble } = await statusOf(places, agents, asker);
      const marketplace = looks[0]?.marketplaces?.[0] ?? null;
      return { ...looks[0], marketplace, trouble: trouble.map(({ found }) => found) };
    },
    run: (program: string, args: readonly string[], more: Record<string, string> = {}) =>
      programRunner(
        { ...environment, ...more },
        systemClock,
      )({
        program,
        args,
        directory: surroundings.directory,
        limitMs: LIMIT_MS,
      }),
  };
}

const OF_MODEL = [
  ...['bookmarking-code', 'handing-over', 'learning-from-sessions'],
  ...['session-management', 'session-tracker', 'taking-over'],
];
/** The server is `plugin:watchkeeper:watchkeeper` there. */
const skillsIn = (request: string) => [...new Set(request.match(/(?<=(?<!plugin:)watchkeeper:)[a-z-]+/g))].sort();

describeWhereInstalled('the plugin in the real Claude Code', CLAUDE, () => {
  test(
    'is valid, and so is the marketplace',
    async () => {
      const { run } = scratch('claude');
      for (const path of ['plugin', '.'])
        expect(await run('claude', ['plugin', 'validate', '--strict', join(packageRoot(), path)])).toMatchObject({
          code: 0,
        });
    },
    LIMIT_MS,
  );

  test(
    'is installed, starts the hooks as children of the agent, and shows the model its skills; is installed again, twice, moved, and removed',
    async () => {
      const scene = scratch('claude');
      expect(await scene.look()).toMatchObject({ hooks: 'none', skills: 'none', trouble: [] });
      expect(await scene.install()).toEqual([null, null]);
      expect(await scene.look()).toMatchObject({
        hooks: 'on',
        skills: 'plugin',
        server: 'on',
        marketplace: scene.root,
        trouble: [],
      });
      const task = { description: 'Look', prompt: 'look around', subagent_type: 'general-purpose' };
      const isFirst = (request: MessagesRequest) =>
        toolResults(request).length === 0 && !userTexts(request).some((text) => text.includes(task.prompt));
      const peer = new AnthropicPeer((request) => [isFirst(request) ? call('Agent', task) : say('done')]);
      await peer.listen();
      afterThisTest(() => peer.stop());
      const { HOME: _, CLAUDE_CONFIG_DIR: __, ...more } = claudeEnvironment(peer, scene.folder);
      // Some versions let the sub-agent work beside the main agent, which then answers twice.
      expect(await scene.run('claude', ['-p', 'hello'], more)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^done\n(?:\ndone\n)?$/),
      });
      const events = ['SessionStart startup claude', 'SubagentStart  claude', 'SessionEnd other noted'];
      expect(scene.events()).toEqual(events);
      const contexts = peer.requests.map(({ request }) => JSON.stringify(request).match(/(?<=a context for )\w+/g));
      expect(contexts[0]).toEqual(['SessionStart']);
      const ofSubAgent = contexts.findIndex((given) => given?.includes('SubagentStart'));
      expect(contexts.splice(ofSubAgent, 1)).toEqual([['SubagentStart']]);
      expect(new Set(contexts.flat())).toEqual(new Set(['SessionStart']));
      expect(contexts.flat()).toHaveLength(contexts.length);
      const request = JSON.stringify(peer.requests.at(-1)?.request);
      expect(skillsIn(request)).toEqual(OF_MODEL);
      // A bridge sees by itself what its agents do.
      await scene.run('claude', ['-p', 'hello'], { ...more, WATCHKEEPER_RUN: 'run' });
      expect(scene.events()).toEqual(events);

      expect(await scene.install()).toEqual([null, null]);

      await scene.run('claude', ['plugin', 'install', '--scope', 'project', 'watchkeeper@watchkeeper']);
      expect((await scene.look()).trouble).toEqual([expect.stringContaining('twice')]);
      await scene.run('claude', ['plugin', 'uninstall', '--scope', 'project', 'watchkeeper@watchkeeper']);

      const moved = join(scene.folder, 'moved');
      renameSync(scene.root, moved);
      expect((await scene.look()).trouble.length).toBeGreaterThan(0);
      expect(await scene.install(moved)).toEqual([null, null]);
      expect(await scene.look()).toMatchObject({ hooks: 'on', marketplace: moved, trouble: [] });

      await scene.remove();
      expect(await scene.look()).toMatchObject({ plugins: [], marketplace: null, hooks: 'none', trouble: [] });
    },
    6 * LIMIT_MS,
  );
});

describeWhereInstalled('the plugin in the real Codex', CODEX, () => {
  test(
    'is installed, waits for trust, is trusted, changes, moves, and is removed',
    async () => {
      const scene = scratch('codex');
      expect(await scene.look()).toMatchObject({ hooks: 'none', skills: 'none', trouble: [] });
      expect(await scene.install()).toEqual([null, null]);
      expect(await scene.look()).toMatchObject({
        hooks: 'untrusted',
        skills: 'plugin',
        server: 'on',
        marketplace: scene.root,
      });
      await trustHooks(scene.asker);
      expect(await scene.look()).toMatchObject({ hooks: 'on', trouble: [] });
      expect(await scene.install()).toEqual([null, null]);
      expect(await scene.look()).toMatchObject({ hooks: 'on', trouble: [] });

      appendFileSync(join(scene.root, 'plugin/skills/resume/SKILL.md'), '\nMore.\n');
      expect(await scene.look()).toMatchObject({ hooks: 'on', trouble: [expect.stringContaining('is older')] });
      const moved = join(scene.folder, 'moved');
      renameSync(scene.root, moved);
      expect((await scene.look()).trouble.length).toBeGreaterThan(0);
      expect(await scene.install(moved)).toEqual([null, null]);
      expect(await scene.look()).toMatchObject({ hooks: 'untrusted', marketplace: moved });
      const other = join(scene.folder, 'other');
      cpSync(moved, other, { recursive: true });
      expect(await scene.install(other)).toEqual([null, null, null]);
      expect(await scene.look()).toMatchObject({ hooks: 'untrusted', marketplace: other });

      await scene.remove();
      expect(await scene.look()).toMatchObject({ plugins: [], marketplace: null, hooks: 'none', trouble: [] });
    },
    4 * LIMIT_MS,
  );

  test(
    'starts the hooks as children of the agent, and shows the model three skills',
    async () => {
      const scene = scratch('codex');
      await scene.install();
      const peer = await startOpenaiPeer(() => [say('done')]);
      afterThisTest(() => peer.stop());
      const { command } = codexOptions(peer.url) as { command: string[] };
      const args = [...command.slice(1, -1), '--dangerously-bypass-hook-trust', 'hello'];
      expect(await scene.run('codex', args, { PEER_KEY: 'local' })).toMatchObject({ code: 0 });
      expect(scene.events()).toEqual(['SessionStart startup codex', 'SessionEnd other noted']);
      expect(peer.bodies.at(-1)).toContain('a context for SessionStart');
      expect(skillsIn(peer.bodies.at(-1) ?? '')).toEqual(OF_MODEL);
    },
    2 * LIMIT_MS,
  );
});

interface Listed {
  readonly result: { readonly data: readonly { readonly hooks: readonly { key: string; currentHash: string }[] }[] };
}

/** As a person does it with /hooks. */
async function trustHooks({ run, surroundings: { directory } }: Asker): Promise<void> {
  const ask = async (method: string, params: object): Promise<unknown> => {
    const first = { id: 1, method: 'initialize', params: { clientInfo: { name: 'test', version: '0' } } };
    const messages = [first, { method: 'initialized' }, { id: 2, method, params }];
    const isAnswer = (line: string) => line.startsWith('{"id":2,');
    const end = await run({
      program: 'codex',
      args: ['app-server'],
      directory,
      limitMs: MINUTE,
      question: { lines: messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message })), isAnswer },
    });
    return end.kind === 'exited' ? JSON.parse(end.out.split('\n').find(isAnswer) ?? '{}') : end;
  };
  const { result } = (await ask('hooks/list', { cwds: [directory] })) as Listed;
  const hooks = result.data.flatMap((place) => place.hooks);
  const edits = hooks.map(({ key, currentHash }) => ({
    keyPath: 'hooks.state',
    value: { [key]: { trusted_hash: currentHash } },
    mergeStrategy: 'upsert',
  }));
  expect(await ask('config/batchWrite', { edits })).toMatchObject({ result: { status: 'ok' } });
}
