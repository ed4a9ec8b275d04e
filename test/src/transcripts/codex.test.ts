/** Rollouts of Codex, recorded and of older shapes, as journal lines. */
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { codex, type Fields, linesOf, RECORDED, START, told, transcript } from './told.js';

const recorded = (name: string) => told(join(RECORDED, 'codex', `${name}.jsonl`));
const item = (seconds: number, payload: Fields) => codex(seconds, 'response_item', payload);
const event = (seconds: number, payload: Fields) => codex(seconds, 'event_msg', payload);
const meta = (source = 'cli') => codex(0, 'session_meta', { id: 'r1', source });
const call = (id: string, name = 'shell', input: Fields = { command: ['ls'] }): Fields => ({
  type: 'function_call',
  name,
  arguments: JSON.stringify(input),
  call_id: id,
});
const output = (id: string, text: unknown): Fields => ({ type: 'function_call_output', call_id: id, output: text });
const message = (role: string, text: string): Fields => ({ type: 'message', role, content: [{ text }] });

describe('a recorded rollout of Codex', () => {
  // rule: old-transcripts-end-their-turns
  test('has batches by response, exit codes, and calls that the harness refused', async () => {
    expect(await recorded('work')).toEqual([
      'session_start startup',
      'user_prompt machine',
      'user_prompt machine',
      'assistant_message',
      'pre_tool_use call_1_1 exec_command 5000 call_1_1',
      'pre_tool_use call_1_2 exec_command call_1_1',
      'post_tool_use call_1_1 exec_command failed',
      'post_tool_use call_1_2 exec_command ok',
      'pre_tool_use call_2_0 shell 3000 call_2_0',
      'pre_tool_use call_2_1 update_plan call_2_0',
      'pre_tool_use call_2_2 nope call_2_0',
      'post_tool_use call_2_0 shell failed',
      'post_tool_use call_2_1 update_plan failed',
      'post_tool_use call_2_2 nope failed',
      'assistant_message',
      'turn_end end_turn',
    ]);
  });

  test.each([
    ['poll', ['post_tool_use call_5_0 write_stdin failed', 'assistant_message', 'turn_end end_turn']],
    ['interrupted', ['post_tool_use call_7_0 exec_command cancelled', 'turn_end interrupted']],
    ['overflow', ['user_prompt machine', 'assistant_message', 'turn_end error']],
  ])('%s ends as it ended', async (name, last) => {
    expect((await recorded(name)).slice(-last.length)).toEqual(last);
  });

  test('says which commands run on after their calls have returned', async () => {
    const lines = await linesOf(join(RECORDED, 'codex', 'poll.jsonl'));
    const running = lines.filter(({ in_background }) => in_background === true);
    expect(running.map(({ tool_use_id }) => tool_use_id)).toEqual(['call_4_0']);
  });

  test('compares and shows results without the prefix that Codex adds', async () => {
    const framed = (chunk: string, code: number, text: string) =>
      `Chunk ID: ${chunk}\nWall time: 0.${chunk} seconds\nProcess exited with code ${code}\nOutput:\n${text}`;
    const path = transcript([
      meta(),
      ...[framed('1', 0, 'same'), framed('2', 0, 'same'), framed('3', 1, 'same'), framed('4', 0, 'other')].flatMap(
        (text, index) => [item(index * 2 + 1, call(`c${index}`)), item(index * 2 + 2, output(`c${index}`, text))],
      ),
    ]);
    const lines = await linesOf(path);
    const previews = lines.flatMap(({ tool_output_preview: preview }) => preview ?? []);
    expect(previews).toEqual(['same', 'same', 'Process exited with code 1\nsame', 'other']);
    const [first, second, third, fourth] = lines.flatMap(({ output_digest }) => output_digest ?? []);
    expect(second).toBe(first);
    expect(new Set([first, third, fourth]).size).toBe(3);
  });
});

describe('an older rollout of Codex', () => {
  test('without turn events ends a turn with a message before a prompt, or with its last one', async () => {
    const path = transcript([
      meta(),
      item(1, message('user', '<environment_context>…')),
      event(2, { type: 'user_message', message: 'go' }),
      item(3, { type: 'reasoning', summary: [] }),
      item(4, call('c1', 'shell', { command: ['ls'], timeout_ms: 120_000 })),
      item(5, output('c1', '{"output":"no","metadata":{"exit_code":2,"duration_seconds":0.5}}')),
      event(6, { type: 'token_count' }),
      item(7, call('c2')),
      item(8, call('c3')),
      event(9, { type: 'token_count' }),
      item(10, output('c3', '{"output":"Error","metadata":{"exit_code":0}}')),
      item(11, output('c2', 'exec command rejected by user')),
      item(12, message('assistant', 'Done')),
      event(500, { type: 'user_message', message: 'more' }),
      item(501, message('assistant', 'Done')),
    ]);
    expect(await told(path)).toEqual([
      'session_start startup',
      'user_prompt human',
      'pre_tool_use c1 shell 120000 c1',
      'post_tool_use c1 shell failed',
      'pre_tool_use c2 shell c2',
      'pre_tool_use c3 shell c2',
      'post_tool_use c3 shell ok',
      'post_tool_use c2 shell rejected',
      'assistant_message',
      'turn_end end_turn',
      'user_prompt human',
      'assistant_message',
      'turn_end end_turn',
    ]);
  });

  test('of bare items uses its start time', async () => {
    const path = transcript([
      { id: 'old', timestamp: new Date(START).toISOString(), instructions: null },
      { record_type: 'state' },
      message('user', '<user_instructions>…'),
      message('user', 'go'),
      call('c1'),
      output('c1', '{"output":"","metadata":{"exit_code":1}}'),
      { type: 'local_shell_call', call_id: 'c2', status: 'completed', action: { type: 'exec', timeout_ms: 9 } },
      { type: 'local_shell_call_output', call_id: 'c2', output: 'fine' },
      message('assistant', 'Done'),
    ]);
    expect(await told(path)).toEqual([
      'session_start startup',
      'user_prompt human',
      'pre_tool_use c1 shell c1',
      'post_tool_use c1 shell failed',
      'pre_tool_use c2 local_shell 9 c2',
      'post_tool_use c2 local_shell ok',
      'assistant_message',
      'turn_end end_turn',
    ]);
    const lines = await linesOf(path);
    expect(new Set(lines.map(({ timestamp }) => timestamp))).toEqual(new Set(['2026-02-05T09:00:00.000Z']));
    expect(lines[0]?.session_id).toBe('old');
  });

  test('keeps the policy by which a person is asked, and the directory and the signs of life of each call', async () => {
    const path = transcript([
      meta(),
      event(1, { type: 'task_started', turn_id: 'a' }),
      codex(1, 'turn_context', { approval_policy: 'on-request' }),
      event(2, { type: 'user_message', message: 'go' }),
      item(3, call('c1', 'exec_command', { cmd: 'make', workdir: '/work/sub' })),
      event(4, { type: 'exec_command_begin', call_id: 'c1' }),
    ]);
    const lines = await linesOf(path);
    expect(lines.filter(({ permission_mode: mode }) => mode !== undefined)).toEqual([
      expect.objectContaining({ event: 'heartbeat', permission_mode: 'on-request' }),
    ]);
    expect(lines.at(-2)).toMatchObject({ event: 'pre_tool_use', directory: '/work/sub' });
    expect(lines.at(-1)).toMatchObject({ event: 'heartbeat', source: 'tool_event', tool_use_id: 'c1' });
  });

  test.each([
    ['codex-tui', ['attended']],
    ['codex_exec', []],
  ])(
    'of a sub-agent of %s shows whether a person is present, who does not write to it',
    async (originator, sources) => {
      const source = { subagent: { thread_spawn: { parent_thread_id: 'r0' } } };
      const path = transcript([
        codex(0, 'session_meta', { id: 'r1', originator, source }),
        event(1, { type: 'user_message', message: 'go' }),
      ]);
      const lines = await linesOf(path);
      expect(lines.filter(({ source }) => source === 'attended').map(({ source }) => source)).toEqual(sources);
      expect(lines.filter(({ event }) => event === 'user_prompt').map(({ origin }) => origin)).toEqual(['machine']);
    },
  );

  test('asks a person, is cut off by a new task, and compacts', async () => {
    const path = transcript([
      meta('exec'),
      event(1, { type: 'task_started', turn_id: 'a' }),
      event(2, { type: 'user_message', message: 'go' }),
      item(3, call('c1', 'request_user_input', {})),
      event(4, { type: 'exec_approval_request', call_id: 'c1' }),
      codex(5, 'compacted', { message: '' }),
      event(900, { type: 'task_started', turn_id: 'b' }),
      event(900, { type: 'task_started', turn_id: 'b' }),
      item(901, {
        type: 'custom_tool_call',
        name: 'exec',
        call_id: 'c2',
        input: 'a({yield_time_ms: 10000}); b({"timeout_ms": 5})',
      }),
      event(902, { type: 'stream_error', message: 'retrying' }),
      event(903, { type: 'exec_command_end', call_id: 'c2', exit_code: 7 }),
      item(904, { type: 'custom_tool_call_output', call_id: 'c2', output: 'text' }),
      event(905, { type: 'turn_aborted', reason: 'interrupted' }),
    ]);
    expect((await told(path)).slice(2)).toEqual([
      'user_prompt machine',
      'pre_tool_use c1 request_user_input c1',
      'wait_start user c1',
      'wait_start permission c1',
      'compaction',
      'turn_end cut_off',
      'user_prompt machine',
      'pre_tool_use c2 exec 10005 c2',
      'heartbeat api_retry',
      'post_tool_use c2 exec failed',
      'turn_end interrupted',
    ]);
  });

  test('may name the turn after the prompt that started it; an interrupted turn ends with the next', async () => {
    const path = transcript([
      meta(),
      event(1, { type: 'user_message', message: 'go' }),
      event(1.01, { type: 'task_started', turn_id: 'a' }),
      item(2, { type: 'reasoning' }),
      event(900, { type: 'task_started', turn_id: 'b' }),
      event(900.01, { type: 'user_message', message: 'again' }),
      event(901, { type: 'user_message', message: 'and this' }),
    ]);
    expect((await told(path)).slice(1)).toEqual([
      'user_prompt human',
      'user_prompt machine',
      'turn_end cut_off',
      'user_prompt machine',
      'user_prompt human',
      'user_prompt human',
    ]);
  });

  test('counts a streaming model and its searches as signs of life, and ends when Codex is closed', async () => {
    const path = transcript([
      meta(),
      event(1, { type: 'agent_message', message: 'first' }),
      event(2, { type: 'agent_reasoning', text: 'hm' }),
      item(3, { type: 'web_search_call', action: { query: 'x' } }),
      event(4, { type: 'context_compacted' }),
      item(5, { type: 'compaction', encrypted_content: '' }),
      event(6, { type: 'shutdown_complete' }),
    ]);
    const lines = (await linesOf(path)).filter(({ source }) => source !== 'record');
    expect(lines.slice(1).map(({ event, source, reason }) => [event, source ?? reason])).toEqual([
      ['heartbeat', 'stream'],
      ['heartbeat', 'stream'],
      ['heartbeat', 'step'],
      ['compaction', undefined],
      ['compaction', undefined],
      ['session_end', 'shutdown'],
    ]);
  });
});
