/** The plugin's MCP server in the real agents: its tools are in the first request, and a call means the agent's own session. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { programRunner } from '../../bridge/command/runProgram.js';
import type { AgentName } from '../../bridge/plugin/agent.js';
import { install } from '../../bridge/plugin/change.js';
import { AGENTS } from '../../bridge/plugin/status.js';
import { Places } from '../../memory/home/places.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { packageRoot } from '../../src/host/program.js';
import { SECOND, systemClock } from '../../src/time.js';
import { testFolder } from '../harness/folder.js';
import { describeWhereInstalled } from '../harness/installed.js';
import { patience } from '../harness/patience.js';
import { afterThisTest } from '../harness/scope.js';
import { AnthropicPeer } from '../peers/anthropic/anthropicPeer.js';
import { claudeEnvironment } from '../peers/anthropic/environment.js';
import { toolResults } from '../peers/anthropic/messages.js';
import { type Block, call, say } from '../peers/modelBlocks.js';
import { CODEX, codexEnvironment, codexOptions } from '../peers/openai/codexCli.js';
import { startOpenaiPeer } from '../peers/openai/openaiPeer.js';
import { type RecordedPlace, startAgent, worklogsIn } from './recorded.js';

const CLAUDE = { program: 'claude', remedy: 'npm install -g @anthropic-ai/claude-code' };
const LIMIT_MS = 90 * SECOND * patience();
const PHASES = [{ id: 1, name: 'Write the file', agents: ['coder'] }];

async function installed(name: AgentName, folder: string, own: Record<string, string>): Promise<RecordedPlace> {
  const [home, work] = [join(folder, 'home'), join(folder, 'work')];
  mkdirSync(work);
  const environment = { PATH: process.env.PATH ?? '', ...own, WATCHKEEPER_HOME: home };
  const surroundings = { directory: work, process: readProcessIdentity('here'), variables: environment };
  const asker = { run: programRunner(environment, systemClock), surroundings };
  const installation = { places: new Places(home), root: packageRoot(), node: process.execPath };
  const changes = await install(installation, [AGENTS[name]], asker);
  expect(changes.map(({ fault }) => fault)).toEqual([null, null]);
  return { work, home, environment };
}

/** @returns a message for each count of results */
const deeds = (tool: (name: string) => string): readonly (readonly Block[])[] => [
  [call(tool('create_session'), { task: 'Write it', phases: PHASES })],
  [call(tool('transition_phase'), { next_phase_id: 1, agent: 'coder' })],
  [call(tool('add_note'), { text: 'the model was here' })],
  [say('All of it is done.')],
];

function expectRecorded(place: RecordedPlace, provider: AgentName): void {
  const [id = ''] = [...worklogsIn(place).keys()].filter((one) => !one.startsWith('ses_'));
  const lines = worklogsIn(place).get(id) ?? [];
  expect(lines).toContainEqual(expect.objectContaining({ event: 'note', origin: 'agent', text: 'the model was here' }));
  expect(lines).toContainEqual(expect.objectContaining({ event: 'conversation', provider }));
  expect(lines).toContainEqual(
    expect.objectContaining({
      ...{ event: 'step', to: 'in_progress', agent: 'coder', call: expect.stringMatching(/./) },
      holder: expect.objectContaining(
        provider === 'codex' ? { conversation: expect.anything() } : { process: expect.anything() },
      ),
    }),
  );
}

describeWhereInstalled('the MCP server in the real Claude Code', CLAUDE, () => {
  test(
    'has its tools in the first request, and records what they are called for',
    async () => {
      const tool = (name: string) => `mcp__plugin_watchkeeper_watchkeeper__${name}`;
      const messages = deeds(tool);
      const peer = new AnthropicPeer((request) => messages[toolResults(request).length] ?? [say('Nothing more.')]);
      await peer.listen();
      afterThisTest(() => peer.stop());
      const folder = testFolder();
      const place = await installed('claude', folder, claudeEnvironment(peer, folder));
      const end = await startAgent(place, [
        'claude',
        '-p',
        'hello',
        '--allowedTools',
        'mcp__plugin_watchkeeper_watchkeeper',
      ]).ended;
      expect(end).toMatchObject({ code: 0 });
      const [first] = peer.requests.filter(({ request }) => (request.tools ?? []).length > 0);
      expect(JSON.stringify(first?.request)).toContain(tool('transition_phase'));
      expect((first?.request.tools ?? []).map(({ name }) => name)).toContain(tool('get_session_status'));
      expectRecorded(place, 'claude');
    },
    LIMIT_MS,
  );
});

describeWhereInstalled('the MCP server in the real Codex', CODEX, () => {
  test(
    'has its tools in the first request, and records from within its sandbox what they are called for',
    async () => {
      const messages = deeds((name) => `mcp__watchkeeper.${name}`);
      const peer = await startOpenaiPeer(({ results }) => messages[results] ?? [say('Nothing more.')]);
      afterThisTest(() => peer.stop());
      const folder = testFolder();
      const user = join(folder, 'user');
      mkdirSync(user);
      const place = await installed('codex', folder, codexEnvironment(user));
      const { command } = codexOptions(peer.url) as { command: string[] };
      const sandboxed = command.map((word) => (word === 'danger-full-access' ? 'workspace-write' : word));
      expect(sandboxed).not.toEqual(command);
      const words = [...sandboxed.slice(1, -1), '--dangerously-bypass-hook-trust', 'hello'];
      expect(await startAgent(place, ['codex', ...words]).ended).toMatchObject({ code: 0 });
      expect(peer.bodies[0]).toContain('"name":"transition_phase"');
      expectRecorded(place, 'codex');
    },
    LIMIT_MS,
  );
});
