import { mkdirSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { MOST_ENTRIES } from '../../../memory/workspaces/changes.js';
import { contentsDigest } from '../../../memory/workspaces/contents.js';
import { testFolder } from '../../harness/folder.js';

let root = '';

beforeEach(() => {
  root = testFolder();
});

const put = (path: string, text: string) => writeFileSync(join(root, path), text);
const digest = (...paths: string[]) => contentsDigest(root, paths);

test('without files there is no digest; the same contents have the same one, whenever they were written', () => {
  expect(digest()).toBeNull();
  put('a', 'one');
  const before = digest('a');
  expect(before).toMatch(/^[0-9a-f]{16}$/);
  utimesSync(join(root, 'a'), 5, 5);
  expect(digest('a')).toBe(before);
  put('a', 'two');
  expect(digest('a')).not.toBe(before);
});

test('a link counts as itself, a folder as its name, and what is gone as such', () => {
  put('target', 'one');
  symlinkSync('target', join(root, 'link'));
  mkdirSync(join(root, 'inner'));
  const all = () => digest('inner/', 'link', 'gone');
  const before = all();
  put('target', 'two');
  put('inner/a', 'x');
  expect(all()).toBe(before);
  rmSync(join(root, 'link'));
  symlinkSync('inner', join(root, 'link'));
  const relinked = all();
  expect(relinked).not.toBe(before);
  put('gone', '');
  expect(all()).not.toBe(relinked);
});

test('of what would take too long to read, size and time have to do', () => {
  put('big', '');
  // A hole: nothing is on the disk.
  truncateSync(join(root, 'big'), 1024 ** 3);
  const before = digest('big');
  utimesSync(join(root, 'big'), 5, 5);
  expect(digest('big')).not.toBe(before);

  put('small', 'one');
  const many = Array.from({ length: MOST_ENTRIES }, () => 'gone');
  const late = digest(...many, 'small');
  utimesSync(join(root, 'small'), 5, 5);
  expect(digest(...many, 'small')).not.toBe(late);
});
