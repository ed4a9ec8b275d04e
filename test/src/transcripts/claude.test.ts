/** Transcripts of Claude Code, recorded and of older shapes, as journal lines. */
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { asks, at, calls, claude, linesOf, RECORDED, returns, says, told, transcript } from './told.js';

const recorded = (name: string) => told(join(RECORDED, 'claude', name));

describe('a recorded transcript of Claude Code', () => {
  test('has batches, declared times and the result of each call; a command for the harness is not a prompt', async () => {
    expect(await recorded('work.jsonl')).toEqual([
      'session_start startup',
      'user_prompt machine',
      'assistant_message',
      'pre_tool_use toolu_1_1 Bash 5000 msg_0001',
      'post_tool_use toolu_1_1 Bash rejected',
      'pre_tool_use toolu_1_2 Bash msg_0001',
      'post_tool_use toolu_1_2 Bash rejected',
      'pre_tool_use toolu_1_3 Read msg_0001',
      'post_tool_use toolu_1_3 Read failed',
      'pre_tool_use toolu_1_4 Read msg_0001',
      'post_tool_use toolu_1_4 Read ok',
      'assistant_message',
      'turn_end end_turn',
      'user_prompt machine',
      'assistant_message',
      'turn_end end_turn',
      'heartbeat local_command',
      'heartbeat local_command',
      'compaction',
      'heartbeat local_command',
    ]);
  });

  test('says which commands run on after their calls have returned', async () => {
    const lines = await linesOf(join(RECORDED, 'claude-2.1.330', 'background-command.jsonl'));
    const running = lines.filter(({ event }) => event === 'post_tool_use').map(({ in_background }) => in_background);
    expect(running).toEqual([true]);
  });

  test('includes its sub-agents, each with the call that started it', async () => {
    const lines = await recorded('delegate.jsonl');
    expect(lines.filter((line) => line.startsWith('a'))).toEqual([
      'a7952a86bf485d187 of toolu_3_0: user_prompt machine',
      'a99409a21502fe88c of toolu_3_1: user_prompt machine',
      'a7952a86bf485d187 of toolu_3_0: pre_tool_use toolu_4_0 Bash msg_0004',
      'a99409a21502fe88c of toolu_3_1: pre_tool_use toolu_5_0 Bash msg_0005',
      'a99409a21502fe88c of toolu_3_1: post_tool_use toolu_5_0 Bash ok',
      'a7952a86bf485d187 of toolu_3_0: post_tool_use toolu_4_0 Bash ok',
      'a99409a21502fe88c of toolu_3_1: assistant_message',
      'a99409a21502fe88c of toolu_3_1: turn_end end_turn',
      'a7952a86bf485d187 of toolu_3_0: assistant_message',
      'a7952a86bf485d187 of toolu_3_0: turn_end end_turn',
      'assistant_message',
      'assistant_message',
    ]);
    expect(lines).toContain('post_tool_use toolu_3_1 Agent ok');
  });

  test('of a sub-agent alone is the transcript of a main agent', async () => {
    const lines = await recorded('delegate/subagents/agent-a7952a86bf485d187.jsonl');
    expect(lines).toEqual([
      'session_start startup',
      'user_prompt machine',
      'pre_tool_use toolu_4_0 Bash msg_0004',
      'post_tool_use toolu_4_0 Bash ok',
      'assistant_message',
      'turn_end end_turn',
    ]);
  });

  test.each([
    ['background', ['turn_end end_turn', 'user_prompt machine', 'assistant_message', 'turn_end end_turn']],
    [
      'interrupted',
      ['pre_tool_use toolu_10_0 Bash msg_0010', 'post_tool_use toolu_10_0 Bash rejected', 'turn_end interrupted'],
    ],
    ['hooked', ['turn_end end_turn', 'heartbeat hook', 'heartbeat stop_hook']],
    ['refused', ['user_prompt machine', 'assistant_message', 'turn_end error']],
    ['retry', ['wait_end rate_limit', 'assistant_message', 'turn_end end_turn']],
    ['hang', ['pre_tool_use toolu_26_1 Read msg_0026', 'post_tool_use toolu_26_1 Read ok']],
  ])('%s ends as it ended', async (name, last) => {
    expect((await recorded(`${name}.jsonl`)).slice(-last.length)).toEqual(last);
  });

  test('shows a retry with its delay as a wait with its end', async () => {
    const waits = (await recorded('retry.jsonl')).filter((line) => line.startsWith('wait_start'));
    expect(waits).toEqual([
      'wait_start rate_limit 2026-11-20T23:18:42.831Z',
      'wait_start rate_limit 2026-11-20T23:18:44.146Z',
    ]);
  });

  test('shows a call that a hook forbade as blocked', async () => {
    expect(await recorded('hooked.jsonl')).toContain('post_tool_use toolu_24_0 Bash blocked');
  });
});

describe('a transcript of an older Claude Code', () => {
  // rule: old-transcripts-end-their-turns
  test('without stop reasons ends its turn with a message before a prompt, or with its last one', async () => {
    const path = transcript([
      asks(0, 'do it'),
      says(1, 'On it'),
      calls(2, 't1'),
      returns(3, 't1'),
      says(4, 'Done'),
      claude(5, 'file-history-snapshot'),
      asks(900, 'more'),
      says(901, 'Done again'),
    ]);
    expect(await told(path)).toEqual([
      'session_start startup',
      'user_prompt human',
      'assistant_message',
      'pre_tool_use t1 Bash msg',
      'post_tool_use t1 Bash ok',
      'assistant_message',
      'turn_end end_turn',
      'user_prompt human',
      'assistant_message',
      'turn_end end_turn',
    ]);
    const lines = await linesOf(path);
    expect(lines.find(({ event }) => event === 'turn_end')?.timestamp).toBe('2026-02-05T09:00:04.000Z');
  });

  test('does not take text that the harness adds after an exit as the agent continuing', async () => {
    const path = transcript([
      asks(0, 'what does it do?'),
      says(5, 'It does that'),
      claude(6, 'system', { subtype: 'stop_hook_summary' }),
      asks(240, '<command-name>/exit</command-name>'),
      asks(240, '<local-command-stdout>Bye!</local-command-stdout>'),
      claude(5_400, 'assistant', {
        message: {
          model: '<synthetic>',
          stop_reason: 'stop_sequence',
          content: [{ type: 'text', text: 'No response requested.' }],
        },
      }),
      asks(5_410, 'and this?'),
      says(5_415, 'That, too'),
    ]);
    expect((await told(path)).filter((line) => /prompt|message|turn_end/.test(line))).toEqual([
      'user_prompt human',
      'assistant_message',
      'turn_end end_turn',
      'user_prompt human',
      'assistant_message',
      'turn_end end_turn',
    ]);
    expect((await linesOf(path)).find(({ event }) => event === 'turn_end')?.timestamp).toBe('2026-02-05T09:00:05.000Z');
  });

  test('keeps the mode by which a person is asked, and the signs of life of each call', async () => {
    const modesOf = async (path: string) =>
      (await linesOf(path)).flatMap(({ event, permission_mode: mode }) => (mode === undefined ? [] : [[event, mode]]));
    const told = transcript([
      asks(0, 'do it', { permissionMode: 'plan' }),
      calls(1, 't1'),
      claude(2, 'progress', { parentToolUseID: 't1', data: { type: 'bash_progress' } }),
      claude(3, 'permission-mode', { permissionMode: 'acceptEdits' }),
      asks(4, 'and this'),
    ]);
    expect(await modesOf(told)).toEqual([
      ['user_prompt', 'plan'],
      ['heartbeat', 'acceptEdits'],
    ]);
    expect((await linesOf(told)).find(({ source }) => source === 'bash_progress')).toMatchObject({ tool_use_id: 't1' });
    const older = transcript([asks(0, 'do it'), says(1, 'Done'), asks(2, 'more')]);
    expect(await modesOf(older)).toEqual([
      ['user_prompt', 'unstated'],
      ['user_prompt', 'unstated'],
    ]);
  });

  test('places a mode without a time after the line before it', async () => {
    const switched = { type: 'permission-mode', permissionMode: 'default', sessionId: 'c1' };
    const path = transcript([
      asks(0, 'do it', { permissionMode: 'acceptEdits' }),
      calls(1, 't1'),
      switched,
      returns(9, 't1'),
    ]);
    const modes = (await linesOf(path)).filter(({ permission_mode: mode }) => mode !== undefined);
    expect(modes.map(({ timestamp, permission_mode: mode }) => [timestamp, mode])).toEqual([
      [at(0), 'acceptEdits'],
      [at(1), 'default'],
    ]);
  });

  test('owes an answer to a shell command of a person if the model is asked about its output', async () => {
    const path = transcript([
      asks(0, '<bash-input>ls</bash-input>'),
      asks(1, '<bash-stdout>a</bash-stdout>'),
      asks(2, '<bash-input>ls</bash-input>'),
      asks(3, '<bash-stdout>a</bash-stdout>', { turnOrigin: 'human' }),
    ]);
    expect(await told(path)).toEqual([
      'session_start startup',
      'heartbeat local_command',
      'heartbeat local_command',
      'heartbeat local_command',
      'user_prompt human',
    ]);
  });

  test('owes nothing for a /compact, in any form it was typed', async () => {
    const path = transcript([
      asks(0, 'do it'),
      says(5, 'Done', 'end_turn'),
      asks(300, '/compact', { uuid: 'typed' }),
      asks(300, '<command-name>/compact</command-name>', { parentUuid: 'typed' }),
      asks(360, 'This session is being continued', { isCompactSummary: true }),
      claude(361, 'system', { subtype: 'compact_boundary' }),
      asks(400, '/compact keep the names'),
      asks(500, '/compactify it'),
    ]);
    expect((await told(path)).filter((line) => /prompt|turn_end|compaction/.test(line))).toEqual([
      'user_prompt human',
      'turn_end end_turn',
      'compaction',
      'user_prompt human',
    ]);
  });

  test('keeps sub-agents in the same file: an unnamed chain belongs to the call with the same text', async () => {
    const side = (rest: object) => ({ isSidechain: true, ...rest });
    const path = transcript([
      asks(0, 'delegate'),
      calls(1, 't1', 'Task', { prompt: 'look at A', description: 'a' }),
      calls(2, 't2', 'Task', { prompt: 'look at B', description: 'b' }),
      asks(3, 'look at B', side({ uuid: 'b1' })),
      asks(4, 'look at A', side({ uuid: 'a1' })),
      calls(5, 'x', 'Read', {}, side({ uuid: 'a2', parentUuid: 'a1' })),
      returns(6, 'x', 'text', false, side({ uuid: 'a3', parentUuid: 'a2' })),
      returns(7, 't1'),
      returns(8, 't2'),
      says(9, 'Done'),
    ]);
    expect(await told(path)).toEqual([
      'session_start startup',
      'user_prompt human',
      'pre_tool_use t1 Task msg',
      'pre_tool_use t2 Task msg',
      'b1 of t2: user_prompt machine',
      'a1 of t1: user_prompt machine',
      'a1 of t1: pre_tool_use x Read msg',
      'a1 of t1: post_tool_use x Read ok',
      'a1 of t1: turn_end end_turn',
      'post_tool_use t1 Task ok',
      'b1 of t2: turn_end end_turn',
      'post_tool_use t2 Task ok',
      'assistant_message',
      'turn_end end_turn',
    ]);
  });

  test('ends a sub-agent that a person interrupts; what comes late counts only if it goes on', async () => {
    const side = (rest: object) => ({ isSidechain: true, ...rest });
    const path = transcript([
      asks(0, 'delegate'),
      calls(1, 't1', 'Task', { prompt: 'look' }),
      asks(2, 'look', side({ uuid: 'a1' })),
      asks(3, '[Request interrupted by user]', side({ uuid: 'a2', parentUuid: 'a1' })),
      says(4, 'Done', 'end_turn', side({ uuid: 'a3', parentUuid: 'a2' })),
      says(5, 'Still here', 'tool_use', side({ uuid: 'a4', parentUuid: 'a3' })),
    ]);
    expect((await told(path)).slice(3)).toEqual([
      'a1 of t1: user_prompt machine',
      'a1 of t1: turn_end end_turn',
      'a1 of t1: user_prompt machine',
      'a1 of t1: assistant_message',
    ]);
  });

  test('repeats lines of a sub-agent in its progress; they count for that agent', async () => {
    const inner = calls(2, 'x', 'Read', {});
    const path = transcript([
      asks(0, 'delegate'),
      calls(1, 't1', 'Task', { prompt: 'look' }),
      claude(2, 'progress', { parentToolUseID: 't1', data: { type: 'agent_progress', agentId: 'ag', message: inner } }),
      claude(3, 'progress', { data: { type: 'bash_progress' } }),
    ]);
    expect((await told(path)).slice(3)).toEqual([
      'ag of t1: user_prompt machine',
      'ag of t1: heartbeat agent_progress',
      'ag of t1: pre_tool_use x Read msg',
      'heartbeat bash_progress',
    ]);
  });

  test('knows the tasks of a message that carries several results', async () => {
    const block = (id: string, text: string) => ({ type: 'tool_result', tool_use_id: id, content: text });
    const path = transcript([
      asks(0, 'go'),
      ...['1', '2'].map((id) => calls(1, `t${id}`, 'TaskCreate', { subject: `task ${id}` })),
      claude(2, 'user', {
        message: {
          role: 'user',
          content: ['1', '2'].map((id) => block(`t${id}`, `Task #${id} created successfully: task ${id}`)),
        },
      }),
    ]);
    const items = (await linesOf(path)).flatMap(({ event, items }) => (event === 'plan' ? [items] : []));
    expect(items).toMatchObject([[{ external_id: '1', title: 'task 1' }], [{ external_id: '2', title: 'task 2' }]]);
  });

  test.each([
    ['rejected', "The user doesn't want to proceed with this tool use. The tool use was rejected", {}],
    ['rejected', 'Permission to use Write has been denied. IMPORTANT: …', {}],
    ['rejected', 'anything', { toolUseResult: 'User rejected tool use' }],
    ['cancelled', '<tool_use_error>Cancelled: parallel tool call Bash(x) errored</tool_use_error>', {}],
    ['cancelled', '[Request interrupted by user for tool use]', {}],
    ['cancelled', 'half', { toolUseResult: { interrupted: true } }],
    ['blocked', 'PreToolUse:Bash hook error: [guard]: no', {}],
    ['failed', "Exit code 1\nThe user doesn't want to proceed with this tool use", {}],
    ['failed', '<tool_use_error>File does not exist.</tool_use_error>', {}],
  ])('shows a call as %s by %j', async (outcome, text, rest) => {
    const path = transcript([asks(0, 'go'), calls(1, 't1'), returns(2, 't1', text, true, rest)]);
    expect((await told(path)).at(-1)).toBe(`post_tool_use t1 Bash ${outcome}`);
  });

  test('does not take output of a tool as a failure', async () => {
    const text = "Error: The user doesn't want to proceed";
    const path = transcript([asks(0, 'go'), calls(1, 't1'), returns(2, 't1', text)]);
    expect((await told(path)).at(-1)).toBe('post_tool_use t1 Bash ok');
  });

  test('ends a call without a result with the turn, at the next prompt', async () => {
    const path = transcript([asks(0, 'go'), calls(1, 't1'), asks(90_000, 'are you there?'), calls(90_001, 't2')]);
    expect((await told(path)).slice(3)).toEqual(['turn_end cut_off', 'user_prompt human', 'pre_tool_use t2 Bash msg']);
  });

  test('knows the author of a prompt', async () => {
    const path = transcript([
      asks(0, '<command-name>/clear</command-name>'),
      asks(1, '<local-command-stdout></local-command-stdout>'),
      asks(2, 'Caveat: …', { isMeta: true }),
      asks(3, '<command-message>fix</command-message>\n<command-name>/fix</command-name>', { uuid: 'typed' }),
      asks(4, 'Fix everything', { isMeta: true, parentUuid: 'typed' }),
      says(5, 'Fixed'),
      asks(6, 'Stop hook feedback:\nrun the tests', { isMeta: true }),
      says(7, 'Run'),
      asks(8, '<task-notification>\n<task-id>b1</task-id>', { origin: { kind: 'task-notification' } }),
      says(9, 'Noted'),
      asks(10, 'This session is being continued', { isCompactSummary: true }),
      asks(11, [{ type: 'text', text: '[Request interrupted by user]' }] as unknown as string),
    ]);
    expect((await told(path)).filter((line) => /prompt|turn_end/.test(line))).toEqual([
      'user_prompt human',
      'turn_end end_turn',
      'user_prompt machine',
      'turn_end end_turn',
      'user_prompt machine',
      'turn_end interrupted',
    ]);
  });

  test('waits for a person asked by a tool, and for the declared time of a call', async () => {
    const path = transcript([
      asks(0, 'go'),
      calls(1, 't1', 'AskUserQuestion', {}),
      returns(2, 't1'),
      calls(3, 't2', 'Bash', { timeout: 600_000 }),
      calls(4, 't3', 'mcp__db__query', { timeout: 30 }),
      calls(5, 't4', 'TaskOutput', { timeout_ms: 5_000 }),
    ]);
    const lines = await told(path);
    expect(lines).toContain('wait_start user t1');
    expect(lines).toContain('pre_tool_use t2 Bash 600000 msg');
    expect(lines).toContain('pre_tool_use t3 mcp__db__query msg');
    expect(lines).toContain('pre_tool_use t4 TaskOutput 5000 msg');
  });
});
