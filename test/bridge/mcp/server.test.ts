// covers: bridge/mcp/server.ts bridge/mcp/serving.ts bridge/mcp/program.ts bridge/mcp/caller.ts bridge/mcp/calls.ts
/** The server as its clients meet it. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { INSTRUCTIONS } from '../../../bridge/mcp/server.js';
import { compiledProgram } from '../../../src/host/program.js';
import { call, McpScene, NEWEST, OLDER } from './mcpScene.js';

describe.each([OLDER, NEWEST] as const)('a client of %s', (revision) => {
  test('learns how the work is, and keeps a note as an agent', async () => {
    const scene = new McpScene();
    const client = await scene.connect(revision);
    expect(client.getInstructions()).toBe(INSTRUCTIONS);
    const none = await call(client, 'get_session_status');
    expect(none).toMatchObject({ isError: false, value: { exists: false, workspace: scene.directory } });
    const id = await scene.begin('Fix the login');
    expect(await call(client, 'add_note', { text: 'the API wants UTC' })).toMatchObject({
      isError: false,
      value: { session_id: id, priority: 'normal' },
    });
    const { value, text } = await call(client, 'get_session_status');
    expect(value).toMatchObject({
      exists: true,
      session_id: id,
      purpose: 'Fix the login',
      lifecycle: 'planned',
      liveness: 'none',
      unresolved_errors: [],
      next: [{ step: '1', status: 'pending', title: 'a' }],
    });
    expect(JSON.parse(text)).toEqual(value);
    expect(scene.lines(id).at(-1)).toMatchObject({ event: 'note', origin: 'agent', text: 'the API wants UTC' });
  });
});

test('a shell gets the same from `--call`', async () => {
  const scene = new McpScene();
  const client = await scene.connect(NEWEST);
  await scene.begin('Fix the login');
  for (const [name, input] of [
    ['get_session_status', {}],
    ['list_sessions', { here: true }],
    ['add_note', { text: 'a', priority: 'urgent' }],
    ['add_note', { txt: 'a' }],
    ['checkpoint', { drop: 'a' }],
  ] as const) {
    const { value, isError } = await call(client, name, input);
    const { status, stdout } = spawnSync(
      process.execPath,
      [compiledProgram('bridge/cli/main'), 'mcp', '--call', name],
      {
        ...{ cwd: scene.directory, env: scene.environment, encoding: 'utf8', input: JSON.stringify(input) },
      },
    );
    expect([name, JSON.parse(stdout)]).toEqual([name, value]);
    expect(status !== 0).toBe(isError);
  }
});
