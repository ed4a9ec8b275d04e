// covers: bridge/plugin/toolServer.ts
/** The MCP server of the plugin, as an agent has it: there or not, switched off, and whether it starts. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { programRunner } from '../../../bridge/command/runProgram.js';
import type { AgentName } from '../../../bridge/plugin/agent.js';
import { AGENTS } from '../../../bridge/plugin/status.js';
import { packageRoot } from '../../../src/host/program.js';
import { systemClock } from '../../../src/time.js';
import { ofClaude, ofCodex, SERVES, type StandIns, standIns } from './standIns.js';

const ID = 'watchkeeper@watchkeeper';
const REAL = JSON.parse(readFileSync(join(packageRoot(), 'plugin/.mcp.json'), 'utf8')).mcpServers.watchkeeper;
const FAILS = { ...SERVES, args: ['-c', 'echo "no node" >&2; exit 1'] };

/** Gives the agent the plugin with a server. @param server null for none */
function has(scene: StandIns, name: AgentName, server: object | null): void {
  const codex = server === null ? [] : [{ name: 'watchkeeper', enabled: true, transport: server }];
  scene.answer(
    name,
    name === 'codex'
      ? { ...ofCodex(['trusted']), 'mcp list --json': codex }
      : { 'plugin list --json': [ofClaude(ID, { mcpServers: server === null ? {} : { watchkeeper: server } })] },
  );
}

async function look({ asker }: StandIns, name: AgentName) {
  const { server, trouble } = await AGENTS[name].look(asker);
  return { server, trouble: trouble.map(({ found }) => found) };
}

/** @param programs the folders of PATH */
function withRealLine(scene: StandIns, programs: string): StandIns {
  const { surroundings } = scene.asker;
  const PATH = `${join(scene.folder, 'bin')}:${programs}`;
  const variables = { ...surroundings.variables, PATH };
  const run = programRunner({ ...variables }, systemClock);
  return { ...scene, asker: { run, surroundings: { ...surroundings, variables } } };
}

describe.each(['claude', 'codex'] as const)('%s', (name) => {
  test('has a server that lists its tools, none, or one that does not start, for which its own words are said', async () => {
    const scene = standIns([name]);
    has(scene, name, SERVES);
    expect(await look(scene, name)).toEqual({ server: 'on', trouble: [] });
    has(scene, name, null);
    expect(await look(scene, name)).toEqual({ server: 'none', trouble: [expect.stringContaining('no MCP server')] });
    has(scene, name, FAILS);
    expect(await look(scene, name)).toEqual({
      server: 'fails',
      trouble: [expect.stringMatching(/exit code 1: no node$/)],
    });
    has(scene, name, { ...SERVES, args: ['-c', `read -r a; echo '{"id":2,"result":{"tools":[]}}'`] });
    expect(await look(scene, name)).toMatchObject({ server: 'fails' });
  });

  test('starts the real server by the line of the plugin, with the variables that it hands on', async () => {
    const scene = withRealLine(standIns([name]), '/usr/bin:/bin');
    has(scene, name, REAL);
    expect(await look(scene, name)).toMatchObject({
      server: 'fails',
      trouble: [expect.stringContaining('watchkeeper plugin install')],
    });
    mkdirSync(scene.home, { mode: 0o700 });
    writeFileSync(join(scene.home, 'installation'), `${packageRoot()}\n${process.execPath}\n`, { mode: 0o600 });
    expect(await look(scene, name)).toEqual({ server: 'on', trouble: [] });
    // Codex keeps back what the server does not ask for: then it looks for another home.
    has(scene, name, { ...REAL, env_vars: [] });
    expect(await look(scene, name)).toMatchObject({ server: name === 'codex' ? 'fails' : 'on' });
  });

  test('has none without the plugin', async () => {
    expect(await look(standIns([name]), name)).toEqual({ server: 'none', trouble: [] });
  });
});

test('a server that a person has switched off is no fault, and is not started', async () => {
  const scene = standIns();
  has(scene, 'claude', FAILS);
  for (const words of [
    'plugin:\n  Status: ⊘ Disabled for this project (re-enable via /mcp)',
    'No MCP server named "plugin:watchkeeper:watchkeeper". Run `claude mcp add` to add one.',
  ]) {
    scene.answer('claude', { 'mcp get plugin:watchkeeper:watchkeeper': words });
    expect(await look(scene, 'claude')).toEqual({ server: 'off', trouble: [] });
  }
  has(scene, 'codex', FAILS);
  scene.answer('codex', { 'mcp list --json': [{ name: 'watchkeeper', enabled: false, transport: FAILS }] });
  expect(await look(scene, 'codex')).toEqual({ server: 'off', trouble: [] });
});

test('an older Claude Code lists no servers: its folder of the plugin shows whether there is one', async () => {
  const scene = standIns(['claude']);
  const folder = join(scene.folder, 'plugin');
  mkdirSync(folder);
  writeFileSync(join(folder, '.mcp.json'), '{}');
  const list = (more: object) =>
    scene.answer('claude', { 'plugin list --json': [ofClaude(ID, { mcpServers: undefined, ...more })] });
  list({});
  expect(await look(scene, 'claude')).toEqual({ server: 'unknown', trouble: [] });
  list({ installPath: folder });
  expect(await look(scene, 'claude')).toEqual({ server: 'unknown', trouble: [] });
  rmSync(join(folder, '.mcp.json'));
  expect(await look(scene, 'claude')).toMatchObject({ server: 'none', trouble: [expect.any(String)] });
});
