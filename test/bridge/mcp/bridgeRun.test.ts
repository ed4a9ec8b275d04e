// covers: memory/sessions/bridgeRun.ts bridge/mcp/caller.ts
/** The server in a run of a bridge. The tree is real: this process starts an agent (a shell), which starts the server. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { BridgeSession } from '../../../memory/sessions/bridgeSession.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { call, McpScene, serverProgram } from './mcpScene.js';

const ID = 'tg_boat_1_2';

/** @param runs the process of the bridge's run; the server's agent if missing */
async function inRun(runs?: number) {
  const scene = new McpScene();
  const logs = join(testFolder(), 'logs');
  mkdirSync(logs, { mode: 0o700 });
  mkdirSync(scene.directory, { recursive: true });
  writeFileSync(join(logs, 'watchdog.id'), '01K0\n');
  const session = new BridgeSession(logs, ID, { clock: systemClock, redact: redactShapes });
  session.write([worklogKind.line('session_started', { session_id: ID, purpose: 'sail' })]);
  const transport = new StdioClientTransport({
    command: 'sh',
    args: ['-c', '"$@"; exit', 'sh', process.execPath, serverProgram()],
    cwd: scene.directory,
    env: { ...scene.environment, WATCHKEEPER_MEMORY: logs, WATCHKEEPER_SESSION: ID, WATCHKEEPER_RUN: 'r' },
  });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(transport);
  afterThisTest(() => client.close());
  const agent = readProcessIdentity(hostname(), runs ?? transport.pid ?? 0);
  session.write([worklogKind.line('run_started', { process: agent, agent: 'claude', run_id: 'r' })]);
  const worklog = () => readFileSync(join(logs, 'sessions', ID, 'worklog.jsonl'), 'utf8');
  return { scene, client, session, agent, worklog };
}

const PLAN = {
  task: 'Sail',
  phases: [
    { id: 1, name: 'Paint', agents: ['painter'] },
    { id: 2, name: 'Launch', blocked_by: [1] },
  ],
};

test('serves the session of the bridge: plans and moves it, and neither ends nor archives it', async () => {
  const { scene, client, worklog } = await inRun();
  expect(await call(client, 'get_session_status')).toMatchObject({ value: { exists: true, session_id: ID } });
  expect(await call(client, 'create_session', PLAN)).toMatchObject({
    isError: false,
    value: { session_id: ID, phases: [{ id: '1' }, { id: '2' }] },
  });
  for (const on_active of ['archive', 'concurrent'])
    expect(await call(client, 'create_session', { ...PLAN, on_active })).toMatchObject({
      value: { code: 'bridge_decides' },
    });
  expect(await call(client, 'create_session', PLAN)).toMatchObject({ value: { code: 'has_plan' } });
  await call(client, 'transition_phase', { next_phase_id: 1, agent: 'painter' });
  expect(await call(client, 'resume_session', { decision: 'abort', reason: 'r' })).toMatchObject({
    value: { code: 'bridge_decides' },
  });
  expect(await call(client, 'archive_session', { as: 'cancelled' })).toMatchObject({
    value: { code: 'bridge_decides' },
  });
  expect(await call(client, 'resume_session')).toMatchObject({ isError: false, value: { session_id: ID } });
  await call(client, 'transition_phase', { completed_phase_id: 1, next_phase_id: 2 });
  const last = await call(client, 'transition_phase', { completed_phase_id: 2 });
  expect(last).toMatchObject({ isError: false, value: { completed: ['2'] } });
  expect(last.value).not.toHaveProperty('archived');
  expect(worklog()).not.toMatch(/session_ended|session_archived/);
  // Nothing of it went into the home.
  expect(scene.sessions()).toEqual([]);
});

test('serves the own sessions if the run is of another process, or has ended: it has only inherited the variables', async () => {
  const other = spawn('sleep', ['60'], { stdio: 'ignore' });
  afterThisTest(() => void other.kill('SIGKILL'));
  const elsewhere = await inRun(other.pid);
  const before = elsewhere.worklog();
  const { value } = await call(elsewhere.client, 'create_session', PLAN);
  expect(value.asides).toEqual([expect.stringContaining(`has inherited WATCHKEEPER_SESSION (${ID})`)]);
  expect(elsewhere.scene.sessions()).toEqual([value.session_id]);
  expect(elsewhere.worklog()).toBe(before);
  const ended = await inRun();
  ended.session.write([worklogKind.line('run_ended', { process: ended.agent, reason: 'completed', run_id: 'r' })]);
  const made = await call(ended.client, 'create_session', PLAN);
  expect(ended.scene.sessions()).toEqual([made.value.session_id]);
});
