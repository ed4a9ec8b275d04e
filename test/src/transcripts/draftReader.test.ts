/** How much of a transcript waits to be put in order. */
import { expect, test } from '@jest/globals';
import { JournalTail } from '../../../src/journal/reader.js';
import { claudeFormat } from '../../../src/transcripts/claude/format.js';
import { AS_IT_IS } from '../../../src/transcripts/draft/trimmer.js';
import { type DraftOrder, DraftReader, ORDERED_DRAFTS } from '../../../src/transcripts/draftReader.js';
import { says, transcript } from './told.js';

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
