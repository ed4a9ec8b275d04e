/** How much of a transcript waits to be put in order. */
import { expect, test } from '@jest/globals';
import { JournalTail } from '../../../src/journal/reader.js';
import { claudeFormat } from '../../../src/transcripts/claude/format.js';
import { AS_IT_IS } from '../../../src/transcripts/draft/trimmer.js';
import { DraftReader, FEW_DRAFTS, ORDERED_DRAFTS } from '../../../src/transcripts/draftReader.js';
import { says, transcript } from './told.js';

const RECORDS = 2 * ORDERED_DRAFTS;

/** @returns how many drafts are ready at first */
function readyFirst(path: string): number {
  const reader = new DraftReader(new JournalTail(path), {
    format: claudeFormat,
    trimmer: AS_IT_IS,
    window: FEW_DRAFTS,
  });
  let count = 0;
  for (let draft = reader.peek(); draft !== null && reader.isReady; count += 1) {
    reader.take();
    draft = reader.isReady ? reader.peek() : null;
  }
  return count;
}

test.each([
  ['in order', (index: number) => index],
  ['of one time', () => 0],
])('of records %s only a part is held back', (_, secondOf) => {
  const path = transcript(Array.from({ length: RECORDS }, (_, index) => says(secondOf(index), `word ${index}`)));
  const ready = readyFirst(path);
  expect(ready).toBeGreaterThan(0);
  expect(ready).toBeLessThan(RECORDS - FEW_DRAFTS);
});
