/** Plan, changed files and tokens of Codex, in the shapes of 0.169.0 and of older versions. */
import { describe, expect, test } from '@jest/globals';
import { patchedFiles } from '../../../src/transcripts/codex/observed.js';
import { codex, type Fields, linesOf, transcript } from './told.js';

const item = (seconds: number, payload: Fields) => codex(seconds, 'response_item', payload);
const event = (seconds: number, payload: Fields) => codex(seconds, 'event_msg', payload);
const META = codex(0, 'session_meta', { id: 'r1', source: 'cli' });

const call = (id: string, name: string, input: Fields): Fields => ({
  type: 'function_call',
  name,
  arguments: JSON.stringify(input),
  call_id: id,
});
const output = (id: string, text: string): Fields => ({ type: 'function_call_output', call_id: id, output: text });
const plan = (...steps: readonly (readonly [string, string])[]): Fields => ({
  explanation: 'because',
  plan: steps.map(([step, status]) => ({ step, status })),
});
const changed = (id: string, changes: Fields, status = 'completed'): Fields => ({
  type: 'item_completed',
  item: { type: 'FileChange', id, changes, status, stdout: '', stderr: '' },
});
const tokens = (input: number, cached: number, out: number): Fields => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: out,
  total_tokens: input + out,
});
const counted = (last: Fields, total: Fields): Fields => ({
  type: 'token_count',
  info: { last_token_usage: last, total_token_usage: total },
});

/** @returns the lines of these events, without what the writer adds */
async function seen(records: readonly Fields[], ...events: readonly string[]): Promise<Fields[]> {
  const lines = await linesOf(transcript([META, ...records]));
  return lines
    .filter((line) => events.includes(String(line.event)))
    .map(({ v: _v, timestamp: _time, session_id: _id, event: _event, ...rest }) => rest);
}

describe('a plan of Codex', () => {
  test('is the whole list, once the harness took it', async () => {
    const records = [
      item(1, call('c1', 'update_plan', plan(['Look', 'in_progress'], ['Write the tests', 'pending']))),
      item(2, output('c1', 'Plan updated')),
      item(3, call('c2', 'update_plan', plan(['Look', 'completed'], ['', 'pending'], ['Write', 'of tomorrow']))),
      item(4, output('c2', 'Plan updated')),
    ];
    expect(await seen(records, 'plan')).toEqual([
      {
        mode: 'replace',
        items: [
          { title: 'Look', status: 'in_progress' },
          { title: 'Write the tests', status: 'pending' },
        ],
      },
      {
        mode: 'replace',
        items: [
          { title: 'Look', status: 'completed' },
          { title: 'Write', status: 'pending' },
        ],
      },
    ]);
  });

  test.each(['unsupported call: update_plan', null])('is none if the call ended with %j', async (text) => {
    const records = [item(1, call('c1', 'update_plan', plan(['a', 'pending'])))];
    if (text !== null) records.push(item(2, output('c1', text)));
    expect(await seen(records, 'plan')).toEqual([]);
  });
});

describe('the files that Codex changed', () => {
  const CHANGES = {
    '/w/new.ts': { type: 'add', content: 'x' },
    '/w/old.ts': { type: 'delete', content: 'x' },
    '/w/same.ts': { type: 'update', unified_diff: '@@', move_path: null },
    '/w/from.ts': { type: 'update', unified_diff: '@@', move_path: '/w/to.ts' },
  };
  const FILES = {
    tool_use_id: 'c1',
    created: ['/w/new.ts'],
    modified: ['/w/same.ts'],
    deleted: ['/w/old.ts'],
    renamed: [{ from: '/w/from.ts', to: '/w/to.ts' }],
  };

  test('are those of the finished patch, once, whatever the call named them', async () => {
    const patch = '*** Begin Patch\n*** Add File: new.ts\n+x\n*** End Patch\n';
    const records = [
      item(1, { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: patch }),
      event(2, changed('c1', CHANGES)),
      item(3, { type: 'custom_tool_call_output', call_id: 'c1', output: 'Exit code: 0\nOutput:\nSuccess.' }),
    ];
    expect(await seen(records, 'files')).toEqual([FILES]);
  });

  test('are read from the event of versions without items', async () => {
    const end = { type: 'patch_apply_end', call_id: 'c1', stdout: '', stderr: '', success: true, changes: CHANGES };
    expect(await seen([event(1, end)], 'files')).toEqual([FILES]);
    expect(await seen([event(1, { ...end, success: false })], 'files')).toEqual([]);
  });

  test.each(['failed', 'declined'])('are none if the patch is %s', async (status) => {
    expect(await seen([event(1, changed('c1', CHANGES, status))], 'files')).toEqual([]);
  });

  test('are those that the patch names, in versions without events', async () => {
    const patch = `*** Begin Patch
*** Add File: new file.ts
+*** Delete File: not this
*** Update File: from.ts
*** Move to: to.ts
@@
-*** Update File: nor this
*** Delete File: old.ts
*** End Patch`;
    const renamed = [{ from: 'from.ts', to: 'to.ts' }];
    const files = { tool_use_id: 'c1', created: ['new file.ts'], deleted: ['old.ts'], renamed };
    expect(patchedFiles(patch, 'c1')).toEqual({ event: 'files', ...files });
    expect(patchedFiles('nothing', 'c1')).toBeNull();
    const patches = [
      call('c1', 'apply_patch', { input: patch }),
      call('c1', 'shell', { command: ['apply_patch', patch] }),
    ];
    for (const patching of patches) {
      const ended = (code: number) => item(2, output('c1', `{"output":"","metadata":{"exit_code":${code}}}`));
      expect(await seen([item(1, patching), ended(0)], 'files')).toEqual([files]);
      expect(await seen([item(1, patching), ended(1)], 'files')).toEqual([]);
    }
  });
});

describe('the tokens of Codex', () => {
  const FIRST = tokens(100, 40, 7);
  const USAGE = { input: 60, cached: 40, output: 7 };

  test('count once per response, although two records report them', async () => {
    const used = (seconds: number, id: string, usage: Fields) =>
      codex(seconds, 'token_usage_record', { response_id: id, usage, thread_token_usage: tokens(900, 400, 90) });
    const records = [
      used(1, 'resp_1', FIRST),
      event(1, counted(FIRST, FIRST)),
      used(2, 'resp_2', tokens(5, 0, 1)),
      event(2, counted(tokens(5, 0, 1), tokens(105, 40, 8))),
    ];
    expect(await seen(records, 'usage')).toEqual([
      { message_id: 'resp_1', ...USAGE },
      { message_id: 'resp_2', input: 5, cached: 0, output: 1 },
    ]);
  });

  test('count once in versions that repeat the last count', async () => {
    const second = counted(FIRST, tokens(200, 80, 14));
    const records = [event(1, counted(FIRST, FIRST)), event(2, second), event(3, second)];
    const found = await seen(records, 'usage');
    expect(found).toMatchObject([USAGE, USAGE]);
    expect(new Set(found.map(({ message_id }) => message_id)).size).toBe(2);
  });

  test('are none where the record has none', async () => {
    const records = [
      event(1, { type: 'token_count', info: null }),
      codex(2, 'token_usage_record', { response_id: 'r' }),
    ];
    expect(await seen(records, 'usage')).toEqual([]);
  });
});

test('prompts and answers of Codex have their beginnings', async () => {
  const records = [
    event(1, { type: 'task_started', turn_id: 'a' }),
    event(1, {
      type: 'item_completed',
      item: { type: 'UserMessage', content: [{ type: 'text', text: 'work on it' }] },
    }),
    item(2, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x'.repeat(600) }] }),
    event(3, { type: 'user_message', message: 'and more' }),
  ];
  const texts = await seen(records, 'user_prompt', 'assistant_message');
  expect(texts.flatMap(({ text }) => text ?? [])).toEqual(['work on it', 'x'.repeat(500), 'and more']);
});
