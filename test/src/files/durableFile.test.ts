import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { replaceInFolderSync } from '../../../src/files/durableFile.js';
import { testFolder } from '../../harness/folder.js';

test('a file is replaced whole, private, and nothing is left beside it', () => {
  const folder = testFolder();
  const path = join(folder, 'a.json');
  replaceInFolderSync(path, 'first');
  replaceInFolderSync(path, 'second');
  expect(readFileSync(path, 'utf8')).toBe('second');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['a.json']);
});

test('a folder that is gone is not made again, and a file that cannot be replaced stays', () => {
  const folder = testFolder();
  expect(() => replaceInFolderSync(join(folder, 'gone', 'a.json'), 'x')).toThrow(/ENOENT/);
  expect(existsSync(join(folder, 'gone'))).toBe(false);
  mkdirSync(join(folder, 'a.json', 'full'), { recursive: true });
  expect(() => replaceInFolderSync(join(folder, 'a.json'), 'x')).toThrow();
  expect(readdirSync(folder)).toEqual(['a.json']);
});
