import { describe, expect, test } from '@jest/globals';
import { parseProgramLine } from '../../../../bridge/agents/program/protocol.js';

describe('a line of the protocol', () => {
  test.each([
    [
      { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'bash', tool_input: { a: 1 }, timeout_ms: 5, more: true },
      { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'bash', tool_input: { a: 1 }, timeout_ms: 5 },
    ],
    [
      { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'bash', timeout_ms: 'soon', batch: null },
      { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'bash', tool_input: {} },
    ],
    [
      { event: 'post_tool_use', tool_use_id: '1', tool_output: 'x', is_error: true },
      { event: 'post_tool_use', tool_use_id: '1', tool_output_preview: 'x', is_error: true, outcome: 'failed' },
    ],
    [
      { event: 'post_tool_use', tool_use_id: '1', outcome: 'cancelled' },
      { event: 'post_tool_use', tool_use_id: '1', tool_output_preview: '', is_error: false, outcome: 'cancelled' },
    ],
    [
      { event: 'post_tool_use', tool_use_id: '1' },
      { event: 'post_tool_use', tool_use_id: '1', tool_output_preview: '', is_error: false, outcome: 'ok' },
    ],
    [
      { event: 'wait_start', kind: 'rate_limit', until: 'tomorrow' },
      { event: 'wait_start', kind: 'rate_limit' },
    ],
    [
      { event: 'turn_end', agent_id: 'a' },
      { event: 'turn_end', reason: 'end_turn', agent_id: 'a' },
    ],
    [{ event: 'heartbeat' }, { event: 'heartbeat', source: 'step' }],
    [
      { event: 'user_prompt', origin: 'human' },
      { event: 'user_prompt', origin: 'machine' },
    ],
    [
      { event: 'session_start', source: 'compact' },
      { event: 'session_start', source: 'compact' },
    ],
    [
      {
        event: 'plan',
        mode: 'merge',
        items: [{ external_id: '1', title: 'Look', status: 'skipped', blocked_by: ['2'], more: true }],
      },
      {
        event: 'plan',
        mode: 'merge',
        items: [{ external_id: '1', title: 'Look', status: 'skipped', blocked_by: ['2'] }],
      },
    ],
    [
      { event: 'plan', mode: 'replace', items: [], agent_id: 'a' },
      { event: 'plan', mode: 'replace', items: [], agent_id: 'a' },
    ],
    [
      {
        event: 'files',
        tool_use_id: null,
        created: ['a,b'],
        renamed: [{ from: 'c', to: '../d' }],
        read: [],
        changed: ['e'],
        more: 2,
      },
      { event: 'files', created: ['a,b'], renamed: [{ from: 'c', to: '../d' }], read: [], changed: ['e'], more: 2 },
    ],
    [
      { event: 'usage', message_id: 'm', input: 3, output: 2, cost: 1 },
      { event: 'usage', message_id: 'm', input: 3, output: 2, cached: 0 },
    ],
    [
      { event: 'user_prompt', text: 'and now this' },
      { event: 'user_prompt', origin: 'machine', text: 'and now this' },
    ],
  ])('%j goes into the journal', (line, event) => {
    expect(parseProgramLine(JSON.stringify(line))).toEqual([{ kind: 'journal', event }]);
  });

  test('cannot claim another time, version or session', () => {
    const line = { event: 'compaction', v: 9, timestamp: '1970-01-01T00:00:00Z', session_id: 'other', __proto__: null };
    expect(parseProgramLine(JSON.stringify(line))).toEqual([{ kind: 'journal', event: { event: 'compaction' } }]);
  });

  test('a message with text is journaled, and a note', () => {
    expect(parseProgramLine('{"event":"assistant_message","text":"hm"}')).toEqual([
      { kind: 'journal', event: { event: 'assistant_message', text: 'hm' } },
      { kind: 'note', text: 'hm' },
    ]);
  });

  test.each([
    ['{"event":"conversation","conversation_id":"c"}', { kind: 'conversation', conversationId: 'c' }],
    ['{"event":"note","text":"n"}', { kind: 'note', text: 'n' }],
    ['{"event":"answer","text":""}', { kind: 'answer', text: '' }],
    ['{"event":"failure","cause":"credit"}', { kind: 'failure', cause: 'credit', detail: '' }],
    ['{"event":"session_start","source":"startup"}', { kind: 'ignored' }],
    ['{"event":"session_end","reason":"x"}', { kind: 'ignored' }],
    ['{"event":"of_a_later_version"}', { kind: 'ignored' }],
    ['{"event":"plan","items":[]}', { kind: 'garbage' }],
    ['{"event":"plan","mode":"merge","items":"Look"}', { kind: 'garbage' }],
    ['{"event":"plan","mode":"merge","items":[{"title":"Look","status":"soon"}]}', { kind: 'garbage' }],
    ['{"event":"plan","mode":"merge","items":[{"title":"","status":"pending"}]}', { kind: 'garbage' }],
    ['{"event":"files","created":"a"}', { kind: 'garbage' }],
    ['{"event":"files","renamed":["a"]}', { kind: 'garbage' }],
    ['{"event":"usage","input":1,"output":1}', { kind: 'garbage' }],
    ['{"event":"usage","message_id":"m","input":-1}', { kind: 'garbage' }],
    ['{"event":"usage","message_id":"m","input":"1"}', { kind: 'garbage' }],
    ['{"event":"answer"}', { kind: 'garbage' }],
    ['{"event":"wait_start","kind":"mood"}', { kind: 'garbage' }],
    ['{"event":7}', { kind: 'garbage' }],
    ['{"event":"note","te', { kind: 'garbage' }],
    ['["event"]', { kind: 'garbage' }],
    ['null', { kind: 'garbage' }],
    ['\u0000\ufffd', { kind: 'garbage' }],
    ['['.repeat(1_000_000), { kind: 'garbage' }],
  ])('%.60s', (line, meaning) => {
    expect(parseProgramLine(line)).toEqual([meaning]);
  });
});
