import { describe, expect, test } from '@jest/globals';
import { cutText, shorten } from '../src/shorten.js';

describe('a text that is shortened', () => {
  test('stays as it is where it is short enough', () => {
    expect(shorten('abc', 3)).toBe('abc');
    expect(cutText('abc', 3)).toBe('abc');
  });

  test('is as long as allowed, the sign of the cut included', () => {
    expect(shorten('abcd', 3)).toBe('ab…');
    expect(cutText('abcd', 3)).toBe('abc');
  });

  test('never ends with half a character', () => {
    expect(shorten('🦑🦑', 2)).toBe('…');
    expect(shorten('a🦑🦑', 4)).toBe('a🦑…');
    expect(cutText('a🦑🦑', 2)).toBe('a');
  });
});
