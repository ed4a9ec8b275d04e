/** Within one file, the order of its records decides what came first. */
// covers: src/transcripts/fileOrder.ts
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Observed } from '../../../memory/observed/observed.js';
import { recordsOf } from '../../../memory/observed/shares.js';
import { readTranscript } from '../../../memory/observed/transcript.js';
import { textOf } from '../../../src/journal/record.js';
import { redactShapes } from '../../../src/log/redact.js';
import { transcriptAt } from '../../../src/transcripts/companions.js';
import { AS_IT_IS } from '../../../src/transcripts/draft/trimmer.js';
import {
  asks,
  at,
  calls,
  claude,
  codex,
  type Fields,
  returns,
  START,
  says,
  transcript,
} from '../../src/transcripts/told.js';

const fold = async (records: readonly Fields[]): Promise<Observed> =>
  (await readTranscript(transcript(records), redactShapes)).observed;

const callsOf = (observed: Observed) => observed.openCalls().map(({ words }) => words);
const response = (seconds: number, text: string) =>
  codex(seconds, 'response_item', { type: 'message', role: 'assistant', content: [{ text }] });
const turn = (seconds: number, type: string, id: string) => codex(seconds, 'event_msg', { type, turn_id: id });
const ends = (seconds: number, id: string) => turn(seconds, 'task_complete', id);

describe.each([2, 120, 3_600, 86_400])('a clock that is set back by %i seconds', (back) => {
  test('does not turn the story of Claude Code round', async () => {
    const observed = await fold([
      asks(1, 'First'),
      says(2, 'Renamed', 'end_turn'),
      asks(3, 'Second'),
      calls(4, 't1', 'Write', { file_path: '/app/docs.md' }),
      returns(5, 't1', 'ok', false, { toolUseResult: { type: 'create', filePath: '/app/docs.md' } }),
      says(6, 'Written', 'end_turn'),
      asks(7 - back, 'Third'),
      calls(8 - back, 't2', 'Bash', { command: 'npm publish' }),
    ]);
    expect(observed).toMatchObject({ firstPrompt: 'First', lastPrompt: 'Third', isTurnOpen: true, hasSpoken: false });
    expect([callsOf(observed), [...observed.touched]]).toEqual([['Bash: npm publish'], []]);
  });

  test('leaves a finished turn finished', async () => {
    const observed = await fold([
      asks(1, 'Make the page'),
      calls(2, 't1', 'Write', { file_path: '/app/p.html' }),
      returns(3 - back, 't1', 'ok', false, { toolUseResult: { type: 'create', filePath: '/app/p.html' } }),
      says(4 - back, 'Made', 'end_turn'),
    ]);
    expect(observed).toMatchObject({ isTurnOpen: false, lastTurnEnd: 'end_turn', lastWords: 'Made' });
    expect([callsOf(observed), [...observed.touched]]).toEqual([[], []]);
  });

  test('does not turn the story of Codex round', async () => {
    const observed = await fold([
      codex(0, 'session_meta', { id: 'r1', source: 'cli' }),
      turn(1, 'task_started', 'a'),
      codex(1, 'event_msg', { type: 'user_message', message: 'First' }),
      response(2, 'Renamed'),
      ends(3, 'a'),
      turn(10 - back, 'task_started', 'b'),
      codex(10 - back, 'event_msg', { type: 'user_message', message: 'Second' }),
      codex(11 - back, 'response_item', { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c1' }),
    ]);
    expect(observed).toMatchObject({ firstPrompt: 'First', lastPrompt: 'Second', isTurnOpen: true });
    expect(callsOf(observed)).toEqual(['shell']);
  });

  test('does not lead out of the session’s share', async () => {
    const path = transcript([
      asks(1, 'Before'),
      says(2, 'x', 'end_turn'),
      asks(10, 'First'),
      asks(11 - back, 'Second'),
    ]);
    const conversation = {
      ...{ provider: 'claude', id: 'c1', source: 'fork', transcript: path, cwd: null, workspace: null },
      ...{ since: START + 5_000, process: null, at: START, moved_at: null, to: null },
    };
    const share = { conversation, endedAt: null, transcript: transcriptAt(path), bytes: 1, kept: null };
    const texts: (string | null)[] = [];
    for await (const { records } of recordsOf(share as Parameters<typeof recordsOf>[0], AS_IT_IS))
      texts.push(...records.filter(({ event }) => event === 'user_prompt').map(({ text }) => textOf(text)));
    expect(texts).toEqual(['First', 'Second']);
  });
});

test('a record from the future does not date those that follow', async () => {
  const observed = await fold([asks(1, 'go'), claude(9e8, 'system', { subtype: 'x' }), calls(5, 't1')]);
  expect(observed.openCalls()).toMatchObject([{ at: Date.parse(at(5)) }]);
});

test('records that a program writes a second time count once', async () => {
  const edit = [calls(5, 'c', 'Edit', { file_path: '/work/a.ts' }), returns(6, 'c')];
  const observed = await fold([asks(0, 'go'), ...edit, ...edit, says(7, 'Mended.', 'end_turn')]);
  expect([observed.actions.length, observed.isTurnOpen, observed.prompts]).toEqual([1, false, 1]);
});

test('lines of a sub-agent keep their places among those of the main agent', async () => {
  const path = transcript([
    asks(0, 'go'),
    calls(1, 't1', 'Task', { prompt: 'look' }),
    returns(9, 't1'),
    asks(8, 'more'),
  ]);
  const side = [asks(2, 'look'), calls(3, 'x')].map((record) => ({ ...record, isSidechain: true, agentId: 'a1' }));
  const lines = side.map((record) => `${JSON.stringify(record)}\n`).join('');
  writeFileSync(join(path, '..', 'agent-a1.jsonl'), lines);
  const { observed } = await readTranscript(path, redactShapes);
  expect(observed.actions.map(({ agent }) => agent)).toEqual(['main', 'a1']);
  expect([observed.lastPrompt, observed.agents.list()]).toEqual([
    'more',
    [{ id: 'a1', parent: 'main', depth: 1, open: false }],
  ]);
});
