import { describe, expect, test } from '@jest/globals';
import { fingerprintOfJson } from '../../../../monitoring/verdict/timeline/fingerprint.js';
import { canonicalJson } from '../../../../src/journal/digest.js';

const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 1.5, '', '0', '1', 'null', 'true', 'a', 'ab', '"', '[', ']', '{', '}', '…'],
  ...[[], {}, [[]], [{}], [[], []], [[[]]], ['['], ['[', ']'], [']'], ['a', 'b'], ['ab'], ['b', 'a'], [1], ['1']],
  ...[{ a: 1 }, { a: '1' }, { a: null }, { b: 1 }, { a: { b: 1 } }, { a: {}, b: 1 }, { '}': 1 }, [{}, 1], { a: [1] }],
  ...[{ a: 1, b: 2 }, { a: 2, b: 1 }, { ab: '' }, { a: 'b' }, { a: ['b'] }],
];

describe('the fingerprint of a JSON value', () => {
  test('is the same in any order of its keys', () => {
    const left = { command: 'npm test', env: { CI: '1', HOME: '/root' }, args: [{ b: 1, a: 2 }] };
    const right = { args: [{ a: 2, b: 1 }], env: { HOME: '/root', CI: '1' }, command: 'npm test' };
    expect(fingerprintOfJson(left)).toBe(fingerprintOfJson(right));
  });

  test('changes with any other difference', () => {
    const prints = new Set(VALUES.map((value) => fingerprintOfJson(value)));
    expect(new Set(VALUES.map((value) => canonicalJson(value))).size).toBe(VALUES.length);
    expect(prints.size).toBe(VALUES.length);
  });

  test('depends on the fingerprint before it', () => {
    expect(fingerprintOfJson({ a: 1 }, 1)).not.toBe(fingerprintOfJson({ a: 1 }, 2));
  });

  test('of endlessly nested brackets is computed without reading them all', () => {
    const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    expect(fingerprintOfJson(nested(5_000))).toBe(fingerprintOfJson(nested(70)));
    expect(fingerprintOfJson(nested(60))).not.toBe(fingerprintOfJson(nested(61)));
  });
});
