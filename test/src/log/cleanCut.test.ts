import { describe, expect, test } from '@jest/globals';
import { ForeignTail } from '../../../src/log/foreignTail.js';
import { createRedactor } from '../../../src/log/redact.js';
import { cutText, headOf, lastOf, shorten } from '../../../src/log/shorten.js';

describe('a shortened text', () => {
  test('is unchanged if it is short enough', () => {
    expect(shorten('abc', 3)).toBe('abc');
    expect(cutText('abc', 3)).toBe('abc');
  });

  test('is as long as allowed, including the cut mark', () => {
    expect(shorten('abcd', 3)).toBe('ab…');
    expect(cutText('abcd', 3)).toBe('abc');
  });

  test('never ends with half a character', () => {
    expect(shorten('🦑🦑', 2)).toBe('…');
    expect(shorten('a🦑🦑', 4)).toBe('a🦑…');
    expect(cutText('a🦑🦑', 2)).toBe('a');
    expect(lastOf('🦑🦑a', 2)).toBe('a');
  });
});

const OWN = 'Zq3x-Wv8rT0pLm5nKb7cJd2hGf4sYa6uEi9o';
const redact = createRedactor([OWN]);
const FRAGMENT = 8;

function key(lines: number): string {
  const body = Array.from({ length: lines }, (_, line) => `${String(line).padStart(6, '0')}Kq${'aB3+'.repeat(14)}`);
  return ['-----BEGIN RSA PRIVATE KEY-----', ...body, '-----END RSA PRIVATE KEY-----', ''].join('\n');
}

function leaks(text: string): string[] {
  const own = Array.from({ length: OWN.length - FRAGMENT }, (_, at) => OWN.slice(at, at + FRAGMENT));
  return [...own.filter((piece) => text.includes(piece)), ...(text.match(/\d{6}Kq/g) ?? [])];
}

describe('a cut through a secret shows no part of it', () => {
  const secrets: [string, string][] = [
    ['a token', `${OWN} `],
    ['a short key', key(30)],
    ['a long key', key(3_000)],
  ];

  test.each(secrets)('at the end, wherever it is: %s', (_, secret) => {
    for (const before of [0, 1, 90, 99, 100, 101, 7_000, 8_100, 9_200, 15_990, 40_000]) {
      const text = `${'w '.repeat(before / 2)}${secret}end`;
      for (const longest of [60, 100, 2_000, 16_000]) {
        const head = headOf(text, longest, redact);
        expect(head.length).toBeLessThanOrEqual(longest);
        expect(leaks(head)).toEqual([]);
      }
    }
  });

  test.each(secrets)('at the front, wherever it is: %s', (_, secret) => {
    for (const after of [0, 1, 470, 500, 980, 1_000, 8_190, 70_000]) {
      for (const longest of [500, 1_000, 8_192]) {
        const text = `begin\n${secret}${'w '.repeat(after / 2)}`;
        expect(leaks(lastOf(redact(text), longest))).toEqual([]);
        const tail = new ForeignTail();
        for (let at = 0; at < text.length; at += 997) tail.push(text.slice(at, at + 997));
        expect(leaks(tail.last(longest, redact))).toEqual([]);
      }
    }
  });

  test.each(secrets)('of a stream with only its end kept, wherever it was dropped: %s', (_, secret) => {
    for (let before = 0; before < 12_000; before += 101) {
      const tail = new ForeignTail(8_192);
      const text = `${'words '.repeat(before / 6)}\n${secret}it broke\n${before % 2 === 0 ? key(400) : ''}at last\n`;
      for (let at = 0; at < text.length; at += 1_000) tail.push(text.slice(at, at + 1_000));
      const shown = tail.last(1_000, redact);
      expect(leaks(shown)).toEqual([]);
      expect(shown.endsWith('at last')).toBe(true);
    }
  });

  test('of a stream that ended in the middle of a key whose first line was dropped', () => {
    const tail = new ForeignTail(8_192);
    tail.push(key(3_000).split('\n').slice(0, -2).join('\n'));
    expect(leaks(tail.last(1_000, redact))).toEqual([]);
  });

  test('of a stream without a line end', () => {
    const tail = new ForeignTail(8_192);
    for (let times = 0; times < 2_000; times += 1) tail.push(OWN);
    expect(leaks(tail.last(1_000, redact))).toEqual([]);
  });
});
