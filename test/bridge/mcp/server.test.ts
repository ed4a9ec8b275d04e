// covers: bridge/mcp/server.ts bridge/mcp/serving.ts bridge/mcp/program.ts bridge/mcp/caller.ts bridge/mcp/calls.ts
/** The server as its clients meet it. */
import { describe, expect, test } from '@jest/globals';
import { INSTRUCTIONS } from '../../../bridge/mcp/server.js';
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
