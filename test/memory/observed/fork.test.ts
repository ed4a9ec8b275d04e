/** A fork's transcript begins with a copy of its origin's. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Observed } from '../../../memory/observed/observed.js';
import { recordsOf } from '../../../memory/observed/shares.js';
import { transcriptAt } from '../../../src/transcripts/companions.js';
import { AS_IT_IS } from '../../../src/transcripts/draft/trimmer.js';
import { testFolder } from '../../harness/folder.js';
import { asks, calls, RECORDED, returns, START, says, transcript } from '../../src/transcripts/told.js';

async function foldSince(path: string, since: number): Promise<Observed> {
  const conversation = {
    ...{ provider: 'claude', id: 'c', source: 'fork', transcript: path, cwd: null, workspace: null },
    ...{ since, process: null, at: since, moved_at: null, to: null },
  };
  const share = { conversation, endedAt: null, transcript: transcriptAt(path), bytes: 1, kept: null };
  const fold = new Observed();
  for await (const { records } of recordsOf(share as Parameters<typeof recordsOf>[0], AS_IT_IS))
    for (const record of records) fold.take(record);
  return fold;
}

test('recorded by a real program: only its own part counts, although a line of its own comes before the copy', async () => {
  const path = join(RECORDED, 'claude-2.1.329/forked-2.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n');
  const placeOf = (words: string) => lines.findIndex((line) => line.includes(words));
  expect(placeOf('"enqueue"')).toBeLessThan(placeOf('"write a"'));
  const fold = await foldSince(path, Date.parse('2026-11-28T22:07:52.000Z'));
  expect(fold).toMatchObject({ firstPrompt: 'now the other way', prompts: 1, lastWords: 'Then b.', isTurnOpen: false });
  expect([...fold.files.keys()]).toEqual(['./b.txt']);
});

test('counts only its own tokens', async () => {
  const usage = { input_tokens: 100, output_tokens: 20 };
  const spoken = (seconds: number, text: string) => {
    const said = says(seconds, text, 'end_turn');
    return { ...said, message: { ...Object(said.message), usage } };
  };
  const path = transcript([
    ...[asks(0, 'Write a'), calls(1, 't1', 'Write', { file_path: '/a.ts' }), returns(2, 't1'), spoken(3, 'done')],
    ...[
      asks(600, 'The other way'),
      calls(601, 't2', 'Write', { file_path: '/b.ts' }),
      returns(602, 't2'),
      spoken(603, 'done too'),
    ],
  ]);
  const copy = join(testFolder(), 'copy.jsonl');
  writeFileSync(copy, readFileSync(path));
  const fold = await foldSince(copy, START + 590_000);
  expect([fold.firstPrompt, [...fold.files.keys()], fold.tokens.get('main')]).toEqual([
    'The other way',
    ['/b.ts'],
    { input: 100, output: 20, cached: 0 },
  ]);
});
