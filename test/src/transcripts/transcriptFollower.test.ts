/** Following a transcript in any number of steps gives the lines of the whole file. */
import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { JournalRecord } from '../../../src/journal/record.js';
import { SECOND } from '../../../src/time.js';
import { seededRandom } from '../journal/random.js';
import { FollowedLines, GrowingSession, recordedNames, recordedSession } from './following.js';
import { asks, at, calls, claude, codex, type Fields, linesOf, returns, says, transcript } from './told.js';

const MOST_BYTES = 12_000;
/** Every so many lines are held against the whole file, which is read anew for it; the last one always. */
const EVERY = 3;
/** With less than the usual one, most drafts of a short recording are settled. */
const LATENESSES = [0, SECOND, 30 * SECOND];

describe.each(recordedNames())('%s', (name) => {
  const recorded = recordedSession(name);

  // rule: a-followed-transcript-is-the-whole-one
  test.each(LATENESSES)('cut anywhere, each file at any time; %i ms', async (latenessMs) => {
    const random = seededRandom(latenessMs + 1);
    const session = new GrowingSession(recorded);
    const followed = new FollowedLines(session.path, { latenessMs });
    while (session.unfinished.length > 0) {
      session.grow(random.pick(session.unfinished), 1 + random.below(MOST_BYTES));
      expect(followed.read()).toEqual(await linesOf(session.path));
    }
  });

  test('written line by line, in two parts each; nothing has to be read anew', async () => {
    const random = seededRandom(1);
    const session = new GrowingSession(recorded);
    const followed = new FollowedLines(session.path);
    for (const [index, { file, bytes }] of session.lines.entries()) {
      const first = random.below(bytes);
      session.grow(file, first);
      followed.read();
      session.grow(file, bytes - first);
      const lines = followed.read();
      const isLast = session.unfinished.length === 0;
      if (isLast || index % EVERY === 0) expect(lines).toEqual(await linesOf(session.path));
    }
    expect(session.unfinished).toEqual([]);
    expect(followed.restarts).toBe(0);
  });
});

const textOf = (records: readonly Fields[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const append = (path: string, ...records: Fields[]) => appendFileSync(path, textOf(records));
const namesOf = (lines: readonly JournalRecord[]) => lines.map(({ event }) => event);
const follow = (path: string, latenessMs = 0) => new FollowedLines(path, { latenessMs });

/** @returns the path of a sub-agent's transcript beside its session's */
function subAgent(path: string, agentId: string, records: readonly Fields[]): string {
  const folder = join(path.replace(/\.jsonl$/, ''), 'subagents');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `agent-${agentId}.jsonl`);
  writeFileSync(file, textOf(records.map((record) => ({ ...record, isSidechain: true, agentId }))));
  return file;
}

describe('a last message that may have ended its turn', () => {
  // rule: a-presumed-end-is-taken-back
  test('is presumed to be the end until the agent goes on', async () => {
    const path = transcript([asks(0, 'go'), says(100, 'First the tests')]);
    const followed = follow(path);
    expect(namesOf(followed.read()).at(-1)).toBe('turn_end');
    expect(followed.follower.presumesEnd).toBe(true);
    expect(namesOf(followed.given)).not.toContain('turn_end');
    append(path, calls(200, 't1'), returns(300, 't1'));
    expect(namesOf(followed.read())).not.toContain('turn_end');
    expect(followed.follower.presumesEnd).toBe(false);
    expect(followed.restarts).toBe(0);
  });

  test('was the end if a prompt follows', async () => {
    const path = transcript([asks(0, 'go'), says(100, 'Done')]);
    const followed = follow(path);
    followed.read();
    append(path, asks(200, 'more'), calls(300, 't1'));
    followed.read();
    expect(namesOf(followed.given).filter((name) => name === 'turn_end')).toHaveLength(1);
    expect(followed.follower.presumesEnd).toBe(false);
  });
});

describe('a file that is not what it was', () => {
  const [before, after] = [
    [asks(0, 'go'), says(100, 'Done', 'end_turn'), asks(200, 'more')],
    [asks(50, 'something else', { sessionId: 'c9' }), calls(60, 't1')],
  ];

  // rule: a-followed-transcript-is-the-whole-one
  test.each<readonly [string, (path: string) => void]>([
    ['rewritten', (path) => writeFileSync(path, textOf([...after, ...before]))],
    ['cut', (path) => writeFileSync(path, textOf(before.slice(0, 1)))],
    [
      'replaced',
      (path) => {
        writeFileSync(`${path}.new`, textOf(after));
        renameSync(`${path}.new`, path);
      },
    ],
    ['a journal now', (path) => writeFileSync(path, textOf([{ v: 1, timestamp: at(1), event: 'session_start' }]))],
  ])('%s: it is followed from its beginning', async (_what, change) => {
    const path = transcript(before);
    const followed = follow(path);
    followed.read();
    change(path);
    expect(followed.read()).toEqual(await linesOf(path));
    expect(followed.restarts).toBe(1);
    append(path, asks(400, 'on'));
    expect(followed.read()).toEqual(await linesOf(path));
  });

  test('removed: that is said, until there is one again', async () => {
    const path = transcript(before);
    const followed = follow(path);
    followed.read();
    rmSync(path);
    expect(followed.read()).toEqual([]);
    expect(followed.read()).toEqual([]);
    expect(followed.follower.diagnostics).toMatchObject({
      refused: expect.stringContaining('was removed'),
      restarts: 1,
    });
    writeFileSync(path, textOf(after));
    expect(followed.read()).toEqual(await linesOf(path));
    expect(followed.follower.diagnostics.refused).toBeNull();
  });

  test('a journal that becomes a transcript, and one of another session: its sub-agents are others', async () => {
    const path = transcript([{ v: 1, timestamp: at(0), event: 'session_start' }]);
    const followed = follow(path);
    followed.read();
    subAgent(path, 'a1', [asks(2, 'look'), calls(3, 'x')]);
    for (const records of [before, after]) {
      writeFileSync(path, textOf(records));
      expect(followed.read()).toEqual(await linesOf(path));
    }
    expect(followed.follower).toMatchObject({ format: 'claude', sessionId: 'c9' });
  });

  test('a sub-agent’s that was removed no longer counts', async () => {
    const path = transcript([asks(0, 'go'), calls(1, 't1', 'Task', { prompt: 'look' }), asks(400, 'more')]);
    const file = subAgent(path, 'a1', [asks(2, 'look'), calls(3, 'x')]);
    const followed = follow(path);
    expect(followed.read().some(({ agent_id }) => agent_id === 'a1')).toBe(true);
    rmSync(file);
    expect(followed.read()).toEqual(await linesOf(path));
    expect(followed.read().some(({ agent_id }) => agent_id === 'a1')).toBe(false);
    expect(followed.follower.diagnostics.restarts).toBe(1);
  });
});

// rule: a-followed-transcript-is-the-whole-one
test('half a line is waited for', async () => {
  const path = transcript([asks(0, 'go')]);
  const followed = follow(path);
  const before = followed.read();
  const line = JSON.stringify(asks(100, '✓ more'));
  for (const byte of Buffer.from(line).subarray(0, -1)) {
    appendFileSync(path, Buffer.from([byte]));
    expect(followed.read()).toEqual(before);
  }
  appendFileSync(path, '}');
  expect(namesOf(followed.read()).slice(before.length)).toEqual(['turn_end', 'user_prompt']);
  appendFileSync(path, '\nnot JSON\n');
  followed.read();
  expect(followed.follower.diagnostics).toMatchObject({ garbage_lines: 1, restarts: 0 });
  expect(followed.restarts).toBe(0);
});

describe('what is known too late', () => {
  const delegating = [
    asks(0, 'go'),
    calls(1, 't1', 'Task', { prompt: 'look' }),
    calls(2, 't2', 'Task', { prompt: 'see' }),
  ];

  // rule: a-followed-transcript-is-the-whole-one
  test('a sub-agent’s transcript, in a folder that is new as well', async () => {
    const path = transcript(delegating);
    const followed = follow(path);
    followed.read();
    const first = subAgent(path, 'a1', [asks(3, 'see'), calls(4, 'x')]);
    expect(followed.read()).toEqual(await linesOf(path));
    const below = join(dirname(first), 'workflow');
    mkdirSync(below);
    renameSync(subAgent(path, 'a2', [asks(5, 'look')]), join(below, 'agent-a2.jsonl'));
    expect(followed.read()).toEqual(await linesOf(path));
    append(first, { ...calls(6, 'y'), isSidechain: true, agentId: 'a1' });
    const lines = followed.read();
    expect(lines).toEqual(await linesOf(path));
    expect(new Set(lines.map(({ agent_id }) => agent_id))).toEqual(new Set([undefined, 'a1', 'a2']));
    expect(followed.restarts).toBe(0);
  });

  test('sub-agents’ transcripts of one instant, the later name first', async () => {
    const path = transcript(delegating);
    const followed = follow(path, 30 * SECOND);
    followed.read();
    for (const agent of ['b', 'a']) {
      subAgent(path, agent, [asks(3, 'see'), calls(4, `${agent}1`)]);
      expect(followed.read()).toEqual(await linesOf(path));
    }
  });

  test.each([0, 900 * SECOND])('the call that started a sub-agent; %i ms', async (latenessMs) => {
    const path = transcript(delegating);
    const file = subAgent(path, 'a1', [asks(3, 'nothing like a call'), calls(4, 'x'), asks(5, 'y')]);
    const followed = follow(path, latenessMs);
    followed.read();
    writeFileSync(file.replace(/\.jsonl$/, '.meta.json'), '{"toolUseId":"t2"}');
    const lines = followed.read();
    expect(lines).toEqual(await linesOf(path));
    expect(lines.filter(({ parent_tool_use_id: call }) => call === 't2').length).toBeGreaterThan(0);
    expect(followed.restarts).toBe(latenessMs === 0 ? 1 : 0);
  });

  test('the session’s name', async () => {
    const nameless = ({ sessionId: _, ...record }: Fields) => ({ ...record, leafUuid: 'l' });
    const path = transcript([nameless(asks(0, 'go')), nameless(calls(100, 't1'))]);
    const followed = follow(path);
    followed.read();
    append(path, returns(200, 't1'));
    expect(followed.read()).toEqual(await linesOf(path));
    expect(followed.given[0]).toMatchObject({ session_id: 'c1' });
    expect(followed.restarts).toBe(1);
  });

  test('that it is a sub-agent’s own transcript', async () => {
    const path = transcript([claude(0, 'mode'), claude(100, 'mode')], 'agent-a1.jsonl');
    const followed = follow(path);
    followed.read();
    append(path, asks(200, 'look', { isSidechain: true, agentId: 'a1' }));
    append(path, calls(300, 'x', 'Bash', {}, { isSidechain: true, agentId: 'a1' }));
    const lines = followed.read();
    expect(lines).toEqual(await linesOf(path));
    expect(lines.at(-1)).not.toHaveProperty('agent_id');
  });

  test('a record that is written an hour late; the next one is taken in time', async () => {
    const path = transcript([asks(0, 'go'), calls(10, 't1'), calls(4_000, 't2'), calls(4_001, 't3')]);
    const followed = follow(path);
    followed.read();
    append(path, returns(20, 't1'));
    expect(followed.read()).toEqual(await linesOf(path));
    expect(followed.restarts).toBe(1);
    append(path, calls(4_500, 't4'));
    append(path, claude(30, 'system', { subtype: 'compact_boundary' }));
    expect(followed.read()).toEqual(await linesOf(path));
    expect(followed.restarts).toBe(1);
  });

  test('a record that is repeated', async () => {
    const path = transcript([asks(0, 'go'), calls(10, 't1'), returns(11, 't1')]);
    const followed = follow(path, 30 * SECOND);
    const before = followed.read();
    append(path, calls(10, 't1'));
    expect(followed.read()).toEqual(before);
    expect(followed.read()).toEqual(await linesOf(path));
  });
});

test('what is not known yet has no lines', async () => {
  const path = transcript([{ some: 'object' }]);
  const followed = follow(path);
  expect([followed.read(), followed.follower.format]).toEqual([[], null]);
  append(path, asks(0, 'go'));
  expect(namesOf(followed.read())).toEqual(['session_start', 'user_prompt']);
  expect(followed.follower).toMatchObject({ format: 'claude', sessionId: 'c1' });
});

test('a journal passes through', async () => {
  const lines = [{ v: 1, timestamp: at(0), event: 'session_start' }];
  const path = transcript(lines);
  const followed = follow(path);
  expect(followed.read()).toEqual(lines);
  append(path, { v: 1, timestamp: at(1), event: 'heartbeat' });
  expect(followed.read()).toHaveLength(2);
  expect([followed.follower.format, followed.follower.presumesEnd]).toEqual(['journal', false]);
});

// rule: only-what-grew-is-read
test('without news nothing is read, and what is presumed stays the same list', async () => {
  const path = transcript([asks(0, 'go'), says(100, 'Done')]);
  const followed = follow(path);
  followed.read();
  const presumed = followed.follower.presumed();
  const { atimeMs } = statSync(path);
  followed.read();
  expect(followed.follower.presumed()).toBe(presumed);
  expect(statSync(path).atimeMs).toBe(atimeMs);
  append(path, says(200, 'Really'));
  followed.read();
  expect(followed.follower.presumed()).not.toBe(presumed);
});

/** Shapes in which what came long before decides. */
const OLDER: Readonly<Record<string, readonly Fields[]>> = {
  'a message whose tokens every record repeats': [
    asks(0, 'go'),
    ...[10, 20, 30].map((seconds) => {
      const usage = { input_tokens: 5, output_tokens: 7 };
      const message = { id: 'm', role: 'assistant', content: [{ type: 'thinking' }], stop_reason: null, usage };
      return claude(seconds, 'assistant', { message });
    }),
  ],
  'a version that records why a message stopped': [
    asks(0, 'go'),
    claude(10, 'assistant', {
      message: { id: 'm', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }], stop_reason: 'tool_use' },
    }),
    returns(20, 't1'),
    says(30, 'Now the next one'),
    claude(40, 'file-history-snapshot'),
  ],
  'a typed command and its expansion': [
    asks(0, 'go'),
    claude(10, 'user', { message: { role: 'user', content: '<command-name>/review</command-name>' } }),
    claude(20, 'user', { isMeta: true, parentUuid: 'u10', message: { role: 'user', content: 'Review it' } }),
    calls(30, 't1'),
  ],
  'a task and what becomes of it': [
    asks(0, 'go'),
    calls(10, 't1', 'TaskCreate', { subject: 'Read' }),
    returns(20, 't1', 'ok', false, { toolUseResult: { task: { id: '1', subject: 'Read' } } }),
    calls(30, 't2', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    returns(40, 't2', 'ok', false, { toolUseResult: { success: true, statusChange: { to: 'completed' } } }),
    claude(50, 'system'),
  ],
  'sub-agents without a name, in the session’s own file': [
    asks(0, 'delegate'),
    calls(10, 't1', 'Task', { prompt: 'look' }),
    calls(11, 't2', 'Task', { prompt: 'see' }),
    asks(20, 'see', { isSidechain: true, uuid: 'b1' }),
    asks(21, 'look', { isSidechain: true, uuid: 'a1' }),
    calls(30, 'x', 'Bash', {}, { isSidechain: true, uuid: 'a2', parentUuid: 'a1' }),
    calls(31, 'y', 'Bash', {}, { isSidechain: true, uuid: 'b2', parentUuid: 'b1' }),
    returns(40, 'x', 'Exit code 2', true, { isSidechain: true, uuid: 'a3', parentUuid: 'a2' }),
    returns(50, 't1'),
    returns(60, 't2'),
    says(70, 'Done'),
  ],
  'Codex without ends of turns': [
    codex(0, 'session_meta', { id: 'r1', source: 'exec' }),
    codex(10, 'event_msg', { type: 'user_message', message: 'go' }),
    codex(20, 'response_item', {
      type: 'function_call',
      name: 'update_plan',
      arguments: '{"plan":[{"step":"a","status":"in_progress"}]}',
      call_id: 'c1',
    }),
    codex(21, 'response_item', { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c2' }),
    codex(25, 'event_msg', { type: 'exec_command_end', call_id: 'c2', exit_code: 1 }),
    codex(30, 'response_item', { type: 'function_call_output', call_id: 'c1', output: 'Plan updated' }),
    codex(31, 'response_item', { type: 'function_call_output', call_id: 'c2', output: 'no' }),
    ...[40, 50].map((seconds) => codex(seconds, 'event_msg', count(10))),
    codex(60, 'response_item', { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c3' }),
    codex(70, 'event_msg', { type: 'user_message', message: 'more' }),
    codex(80, 'response_item', { type: 'message', role: 'assistant', content: [{ text: 'Hm' }] }),
  ],
  'Codex with turns and responses': [
    codex(0, 'session_meta', { id: 'r1', source: 'cli' }),
    codex(10, 'event_msg', { type: 'task_started', turn_id: 'a' }),
    codex(10.5, 'event_msg', { type: 'user_message', message: 'go' }),
    codex(20, 'event_msg', { type: 'task_started', turn_id: 'a' }),
    codex(30, 'token_usage_record', { response_id: 'r', usage: { input_tokens: 1, output_tokens: 2 } }),
    codex(40, 'event_msg', count(10)),
    codex(50, 'response_item', { type: 'message', role: 'assistant', content: [{ text: 'Hm' }] }),
    codex(60, 'event_msg', { type: 'user_message', message: 'and' }),
    codex(60.2, 'event_msg', { type: 'task_started', turn_id: 'b' }),
    codex(70, 'response_item', { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c1' }),
    codex(71, 'response_item', { type: 'function_call_output', call_id: 'c1', output: 'ok' }),
    codex(72, 'response_item', { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c2' }),
  ],
};

function count(total: number): Fields {
  const last_token_usage = { input_tokens: 3, output_tokens: 4 };
  return { type: 'token_count', info: { total_token_usage: { total_tokens: total }, last_token_usage } };
}

// rule: a-followed-transcript-is-the-whole-one
test.each(Object.entries(OLDER))('%s: line by line', async (_what, records) => {
  const path = transcript([]);
  const followed = follow(path);
  for (const record of records) {
    append(path, record);
    expect(followed.read()).toEqual(await linesOf(path));
  }
  expect(followed.restarts).toBe(0);
});
