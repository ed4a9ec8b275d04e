/** Drafts of several files that come late. */
import { expect, test } from '@jest/globals';
import { SECOND } from '../../../src/time.js';
import type { Draft } from '../../../src/transcripts/draft/draft.js';
import { HeldDrafts } from '../../../src/transcripts/heldDrafts.js';

const draft = (time: number, source = 'x', ordinal = 0): Draft => ({
  time,
  ordinal,
  event: { event: 'heartbeat', source },
  hints: {},
});

function look(held: HeldDrafts, drafts: readonly (readonly [Draft, string])[]): Draft[] {
  held.beginLook();
  expect(drafts.filter(([each, file]) => !held.take(each, file))).toEqual([]);
  return held.settle();
}

test('at most 16,384 drafts wait, however close they are in time', () => {
  const held = new HeldDrafts(SECOND);
  let settled = 0;
  for (let count = 0; count < 40; count += 1) {
    const drafts = Array.from({ length: 1_000 }, (_, index) => [draft(5, `${count} ${index}`), ''] as const);
    settled += look(held, drafts).length;
    expect(held.waiting.length).toBeLessThanOrEqual(2 * 16_384);
  }
  expect(settled + held.waiting.length).toBe(40_000);
  // It cannot be put in its place, but it is not lost, and nothing has to be read anew for it.
  expect(look(held, [[draft(4), '']]).length).toBeLessThanOrEqual(1);
});

test('drafts of one instant are in the order of their files, then of their records', () => {
  const held = new HeldDrafts(SECOND);
  const [late, main, first, second] = [draft(5, 'late', 1), draft(5, 'main'), draft(5, 'a'), draft(5, 'b')];
  look(held, [
    [first, 'agent-a'],
    [second, 'agent-b'],
  ]);
  look(held, [
    [late, ''],
    [main, ''],
  ]);
  expect(held.waiting).toEqual([main, late, first, second]);
});

test('equal records of two files are no repetition', () => {
  const held = new HeldDrafts(SECOND);
  look(held, [[draft(5), '']]);
  look(held, [[draft(5), 'agent-a']]);
  look(held, [[draft(5), '']]);
  expect(held.waiting).toHaveLength(2);
});

test('in one look nothing is too late', () => {
  const held = new HeldDrafts(SECOND);
  const settled = look(held, [
    [draft(0), ''],
    [draft(HOURS), ''],
    [draft(1), ''],
    [draft(2 * HOURS), ''],
  ]);
  expect(settled).toEqual([draft(0), draft(HOURS), draft(1)]);
});

const HOURS = 3_600 * SECOND;
