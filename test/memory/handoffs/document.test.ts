import { expect, test } from '@jest/globals';
import { documentOf, type HandoffDocument, MOST_BYTES, partsOf } from '../../../memory/handoffs/document.js';
import { redactShapes } from '../../../src/log/redact.js';

const WHOLE = { title: 'T', learnings: ['a'], next: ['b'] };
const made = (more: Partial<HandoffDocument>) => documentOf({ ...WHOLE, ...more }, redactShapes);

test.each<[Partial<HandoffDocument>, RegExp]>([
  [{ title: ' ' }, /a title/],
  [{ learnings: [' '] }, /learnings/],
  [{ next: [] }, /next/],
  [{ state: 'x'.repeat(MOST_BYTES) }, /largest field is "state"/],
  [{ learnings: Array.from({ length: 60 }, () => 'ü'.repeat(500)) }, /largest field is "learnings"/],
  [{ done: ['x'.repeat(5_000)] }, /"done" has 5000 characters/],
  [{ files: Array.from({ length: 2_001 }, (_, index) => `f${index}`) }, /2001 files/],
])('%# is refused by name', (more, message) => {
  expect(() => made(more)).toThrow(message);
});

test('secrets, blanks and repeated files are left out', () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const document = made({ state: `use ${secret}`, files: ['a', 'a'], done: ['', 'x '], title: 'two\nlines' });
  expect(JSON.stringify(document)).not.toContain(secret);
  expect(document).toMatchObject({ files: ['a'], done: ['x'], title: 'two lines' });
});

test('a long text is kept whole in parts', () => {
  const text = '🙂a'.repeat(5_000);
  const parts = partsOf(text);
  expect(parts.length).toBeGreaterThan(3);
  expect(parts.join('')).toBe(text);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(4_096);
  expect(partsOf(null)).toEqual([]);
});
