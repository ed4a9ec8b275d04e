import {
  appendFileSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { LineAppender } from '../../../src/files/lineAppender.js';

let folder: string;
const descriptors: number[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchkeeper-appender-'));
});

afterEach(() => {
  for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function opened(name: string, text: string): { path: string; descriptor: number } {
  const path = join(folder, name);
  writeFileSync(path, text);
  const descriptor = openSync(path, constants.O_RDWR | constants.O_APPEND);
  descriptors.push(descriptor);
  return { path, descriptor };
}

function appenderTo(text: string, isShared: boolean): { path: string; lines: LineAppender } {
  const { path, descriptor } = opened('some.jsonl', text);
  const lines = new LineAppender({ isShared });
  lines.use(path, descriptor);
  return { path, lines };
}

test('lines follow each other, and lines of others', () => {
  const { path, lines } = appenderTo('{"n":1}\n', true);
  lines.append('{"n":2}\n');
  appendFileSync(path, '{"n":3}\n');
  lines.append('{"n":4}\n{"n":5}\n');
  expect(readFileSync(path, 'utf8')).toBe('{"n":1}\n{"n":2}\n{"n":3}\n{"n":4}\n{"n":5}\n');
});

test('a cut-off line in a file of one writer is blanked', () => {
  const { path, lines } = appenderTo('{"n":1}\n{"n', false);
  lines.append('{"n":2}\n');
  expect(readFileSync(path, 'utf8')).toBe('{"n":1}\n   {"n":2}\n');
});

test('a cut-off line in a shared file, which another process may still be writing, is terminated', () => {
  const { path, lines } = appenderTo('{"n":1}\n{"n', true);
  lines.append('{"n":2}\n');
  expect(readFileSync(path, 'utf8')).toBe('{"n":1}\n{"n\n{"n":2}\n');
});

test('a line that lacks only its line end gets it', () => {
  const { path, lines } = appenderTo('{"n":1}', false);
  lines.append('{"n":2}\n');
  expect(readFileSync(path, 'utf8')).toBe('{"n":1}\n{"n":2}\n');
});

test('an empty append only blanks or terminates a cut-off line', () => {
  const { path, lines } = appenderTo('{"n":1}\n{"n', true);
  lines.append('');
  lines.append('');
  expect(readFileSync(path, 'utf8')).toBe('{"n":1}\n{"n\n');
});

test('each file that is used is checked separately', () => {
  const { path, lines } = appenderTo('', true);
  lines.append('{"n":1}\n');
  const other = opened('other.jsonl', '{"o');
  lines.use(other.path, other.descriptor);
  lines.append('{"n":2}\n');
  expect(readFileSync(path, 'utf8')).toBe('{"n":1}\n');
  expect(readFileSync(other.path, 'utf8')).toBe('{"o\n{"n":2}\n');
});

test('a write that the file system refuses is an error, and the next one may succeed', () => {
  const { path, lines } = appenderTo('', true);
  const full = openSync('/dev/full', constants.O_RDWR);
  descriptors.push(full);
  lines.use('/dev/full', full);
  expect(() => lines.append('{"n":1}\n')).toThrow('ENOSPC');
  const again = opened('some.jsonl', '');
  lines.use(path, again.descriptor);
  lines.append('{"n":2}\n');
  expect(readFileSync(path, 'utf8')).toBe('{"n":2}\n');
});
