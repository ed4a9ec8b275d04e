import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFromEnd } from '../../../src/files/readAt.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchkeeper-end-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function looks(text: string, wanted: string): { seen: string[]; last: boolean[]; found: string | null } {
  const path = join(folder, 'some');
  writeFileSync(path, text);
  const descriptor = openSync(path, 'r');
  const seen: string[] = [];
  const last: boolean[] = [];
  const found = readFromEnd(descriptor, { first: 2, most: 10 }, (end, { isWhole, isLast }) => {
    seen.push(`${isWhole ? '^' : ''}${end}`);
    last.push(isLast);
    return end.includes(wanted) ? wanted : null;
  });
  closeSync(descriptor);
  return { seen, last, found };
}

test('a growing part of the end is read until it contains the wanted text', () => {
  expect(looks('0123456789abcdef', 'f')).toEqual({ seen: ['ef'], last: [false], found: 'f' });
  expect(looks('0123456789abcdef', '9')).toEqual({ seen: ['ef', '89abcdef'], last: [false, false], found: '9' });
});

test('at most the maximum is read, or the whole file', () => {
  expect(looks('0123456789abcdef', '0')).toEqual({
    seen: ['ef', '89abcdef', '6789abcdef'],
    last: [false, false, true],
    found: null,
  });
  expect(looks('01234', 'x')).toEqual({ seen: ['34', '^01234'], last: [false, true], found: null });
  expect(looks('', 'x')).toEqual({ seen: ['^'], last: [true], found: null });
});
