// covers: bridge/mcp/caller.ts memory/sessions/toolCall.ts memory/look/presentDirectory.ts bridge/command/agentAbove.ts
/** The session of a call follows from the agent that has started the server, not from what the server has inherited. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { HOOK, hook, payload } from '../hook/hookScene.js';
import { call, McpScene, NEWEST, OLDER } from './mcpScene.js';

class AgentScene extends McpScene {
  readonly place = { home: this.home, work: this.directory };

  /** Starts a conversation of this process, or of a shell. @returns its session */
  async start(conversation: string, by: 'this process' | 'a shell', more = {}): Promise<string> {
    const before = this.sessions();
    const input = payload(this.place, 'SessionStart', { session_id: conversation, source: 'startup', ...more });
    if (by === 'this process') await hook(this.place, input);
    else {
      const words = ['-c', '"$@"; exit', 'sh', process.execPath, HOOK, 'SessionStart'];
      spawnSync('sh', words, { cwd: this.directory, env: this.environment, input: JSON.stringify(input) });
    }
    const [id = ''] = this.sessions().filter((one) => !before.includes(one));
    expect(id).not.toBe('');
    return id;
  }
}

let scene: AgentScene;

beforeEach(() => {
  scene = new AgentScene();
});

test("the process's session comes before the one that the variables of the server name", async () => {
  const left = await scene.start('c-left', 'a shell');
  const client = await scene.connect(NEWEST, { CLAUDE_CODE_SESSION_ID: 'c-left' });
  expect((await call(client, 'add_note', { text: 'a' })).value).toMatchObject({ session_id: left });
  const present = await scene.start('c-present', 'this process');
  expect((await call(client, 'add_note', { text: 'b' })).value).toMatchObject({ session_id: present });
});

test('a session that a tool begins gets the present conversation, not the one of the start of the server', async () => {
  await scene.start('c-left', 'a shell');
  await scene.start('c-present', 'this process');
  const client = await scene.connect(NEWEST, { CLAUDE_CODE_SESSION_ID: 'c-left' });
  const { value } = await call(client, 'create_session', { task: 'T', phases: [{ id: 1, name: 'a' }] });
  const lines = scene.lines(String(value.session_id)).filter(({ event }) => event === 'conversation');
  expect(lines).toMatchObject([{ provider: 'claude', conversation: 'c-present' }]);
});

test('in Codex the thread of the call comes first, and has the phase', async () => {
  await scene.start('c-1', 'this process');
  const other = await scene.json('track', ['init', 'X', '--step', 'a', '--concurrent'], {
    variables: { CODEX_THREAD_ID: 't-1' },
  });
  const client = await scene.connect(OLDER);
  const moved = await call(client, 'transition_phase', { next_phase_id: 1 }, { threadId: 't-1', callId: 'call_1' });
  expect(moved.value).toMatchObject({ session_id: other.session_id, started: ['1'] });
  expect(scene.lines(other.session_id).at(-1)).toMatchObject({
    ...{ event: 'step', to: 'in_progress', call: 'call_1' },
    holder: { conversation: { provider: 'codex', conversation: 't-1' } },
  });
});

test("the phase is the process's, and keeps the use of the tool in Claude Code", async () => {
  const id = await scene.begin('T');
  const client = await scene.connect(NEWEST);
  await call(client, 'transition_phase', { next_phase_id: 1 }, { 'claudecode/toolUseId': 'toolu_1' });
  expect(scene.lines(id).at(-1)).toMatchObject({
    ...{ event: 'step', origin: 'agent', call: 'toolu_1' },
    holder: { process: { pid: process.pid } },
  });
});

test('the directory is the last one of the conversation', async () => {
  const elsewhere = join(scene.directory, '..', 'elsewhere');
  mkdirSync(elsewhere);
  const transcript_path = join(scene.directory, 'c-1.jsonl');
  const record = (cwd: string) => `${JSON.stringify({ type: 'user', sessionId: 'c-1', cwd })}\n`;
  writeFileSync(transcript_path, record(scene.directory));
  await scene.start('c-1', 'this process', { transcript_path });
  const client = await scene.connect(NEWEST);
  const noted = async () => (await call(client, 'add_note', { text: 'a', workspace: true })).value.workspace;
  const workspaceOf = (path: string) =>
    `ws_${createHash('sha256').update(realpathSync(path)).digest('hex').slice(0, 16)}`;
  expect(await noted()).toBe(workspaceOf(scene.directory));
  writeFileSync(transcript_path, record(scene.directory) + record(elsewhere));
  expect(await noted()).toBe(workspaceOf(elsewhere));
  writeFileSync(transcript_path, record(scene.directory) + record(join(elsewhere, 'gone')));
  expect(await noted()).toBe(workspaceOf(scene.directory));
});
