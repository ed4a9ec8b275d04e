/** How much of a transcript waits to be put in order. */
import { expect, test } from '@jest/globals';
import { JournalTail } from '../../../src/journal/reader.js';
import { claudeFormat } from '../../../src/transcripts/claude/format.js';
import { AS_IT_IS } from '../../../src/transcripts/draft/trimmer.js';
import { type DraftOrder, DraftReader, ORDERED_DRAFTS } from '../../../src/transcripts/draftReader.js';
import { asks, calls, linesOf, returns, says, transcript } from './told.js';

const RECORDS = 4 * ORDERED_DRAFTS;

/** @returns how many drafts are ready at first */
function readyFirst(path: string, order: DraftOrder): number {
  const reader = new DraftReader(new JournalTail(path), {
    format: claudeFormat,
    trimmer: AS_IT_IS,
    order,
  });
  let count = 0;
  for (let draft = reader.peek(); draft !== null && reader.isReady; count += 1) {
    reader.take();
    draft = reader.isReady ? reader.peek() : null;
  }
  return count;
}

test.each([
  ['time', 'in order', (index: number) => index],
  ['time', 'of one time', () => 0],
  ['file', 'in order', (index: number) => index],
  ['file', 'of falling time', (index: number) => RECORDS - index],
] as const)('by %s, of records %s only a part is held back', (order, _, secondOf) => {
  const path = transcript(Array.from({ length: RECORDS }, (_, index) => says(secondOf(index), `word ${index}`)));
  const ready = readyFirst(path, order);
  expect(ready).toBeGreaterThan(0);
  expect(ready).toBeLessThan(RECORDS - ORDERED_DRAFTS);
});

test('relative paths of an agent that has left its first directory are those of the directory in which it was', async () => {
  const edit = (id: string, path: string, cwd: string, second: number) => [
    calls(second, id, 'Write', { file_path: path, content: 'x' }, { cwd }),
    { ...returns(second + 1, id, 'done', false, { cwd }), toolUseResult: { type: 'create', filePath: path } },
  ];
  const bashEditDiff = { files: [{ filePath: 'd.ts', created: true, hunks: [] }], moreFiles: 0 };
  const path = transcript([
    asks(0, 'Paint.', { cwd: '/work' }),
    ...edit('t1', './a.ts', '/work', 1),
    ...edit('t2', './b.ts', '/work/aside', 3),
    ...edit('t3', '/work/c.ts', '/work/aside', 5),
    calls(7, 't4', 'Bash', { command: 'x' }, { cwd: '/work/aside' }),
    { ...returns(8, 't4', 'done', false, { cwd: '/work/aside' }), toolUseResult: { stdout: '', bashEditDiff } },
  ]);
  const lines = await linesOf(path);
  const begun = lines.filter(({ event }) => event === 'pre_tool_use');
  expect(begun.map(({ directory }) => directory)).toEqual([undefined, ...Array(3).fill('/work/aside')]);
  const files = lines.filter(({ event }) => event === 'files');
  expect(files.map(({ created }) => created)).toEqual([
    ['./a.ts'],
    ['/work/aside/b.ts'],
    ['/work/c.ts'],
    ['/work/aside/d.ts'],
  ]);
});
