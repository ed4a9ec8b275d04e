import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  changesBetween,
  MOST_ENTRIES,
  readScan,
  type Scan,
  scanWorkspace,
} from '../../../memory/workspaces/changes.js';
import { redactShapes } from '../../../src/log/redact.js';
import { testFolder } from '../../harness/folder.js';

const look = (root: string, listed: readonly string[] | null = null, now = 1) =>
  scanWorkspace(root, { listed, isOwn: () => false }, redactShapes, now);
const scanOf = (paths: readonly string[], complete: boolean, at = 1, mtime = 0): Scan => ({
  v: 1,
  at,
  complete,
  entries: Object.fromEntries(paths.map((path) => [path, [1, mtime]])),
});

test('of a folder of 600 files, those are named that were created, changed in size or time, or deleted, also deep inside', () => {
  const root = testFolder();
  mkdirSync(join(root, 'a/b/c'), { recursive: true });
  mkdirSync(join(root, '.git'));
  for (let number = 0; number < 600; number += 1) writeFileSync(join(root, 'a', `${number}.txt`), 'x');
  writeFileSync(join(root, 'a/b/c/deep'), 'x');
  const before = look(root);
  writeFileSync(join(root, 'a/b/c/deep'), 'longer');
  utimesSync(join(root, 'a/7.txt'), 5, 5);
  rmSync(join(root, 'a/8.txt'));
  writeFileSync(join(root, 'a/b/__proto__'), 'x');
  writeFileSync(join(root, '.git/index'), 'x');
  symlinkSync('/etc/passwd', join(root, 'link'));
  const after = look(root);
  const exists = (path: string) => existsSync(join(root, path));
  expect(changesBetween(before, after, exists)).toEqual({
    created: { count: 2, paths: ['a/b/__proto__', 'link'] },
    modified: { count: 2, paths: ['a/7.txt', 'a/b/c/deep'] },
    deleted: { count: 1, paths: ['a/8.txt'] },
  });
  expect(changesBetween(after, look(root), exists).modified.count).toBe(0);
});

test('a scan has at most 20,000 files, and says that it is not complete', () => {
  const root = testFolder();
  writeFileSync(join(root, 'x'), 'x');
  const repeated = Array.from({ length: MOST_ENTRIES + 1 }, () => 'x');
  expect(look(root, repeated)).toMatchObject({ complete: false });
  expect(look(root, repeated.slice(1)).complete).toBe(true);
});

test('where a scan has not every file, nothing is called new or deleted that may only have been left out', () => {
  const before = scanOf(['a', 'b'], false, 100);
  const after = scanOf(['a', 'c'], false, 200, 50);
  const changes = changesBetween(before, after, (path) => path === 'b');
  expect([changes.created.count, changes.deleted.count]).toEqual([0, 0]);
  expect(changesBetween(before, scanOf(['c'], false, 200, 150), () => false)).toMatchObject({
    created: { paths: ['c'] },
    deleted: { count: 2 },
  });
});

test('the first 200 of each kind are named, the rest is counted', () => {
  const many = Array.from({ length: 300 }, (_, number) => `f${number}`);
  const { created } = changesBetween(scanOf([], true), scanOf(many, true), () => true);
  expect([created.count, created.paths.length]).toEqual([300, 200]);
});

test('a stored scan is read again; a damaged one is none, and one of a newer version is named so', () => {
  const root = testFolder();
  writeFileSync(join(root, 'x'), '');
  const scan = look(root);
  expect(readScan(JSON.stringify(scan))).toEqual({ ...scan, entries: { ...scan.entries } });
  expect(readScan('{"v":1,"entr')).toBeNull();
  expect(readScan('{"v":1,"at":0,"complete":true,"entries":{"x":"y"}}')).toBeNull();
  expect(readScan('{"v":2,"other":1}')).toBe('newer');
});

test('no secret in the name of a file is stored', () => {
  const root = testFolder();
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  writeFileSync(join(root, secret), 'x');
  expect(JSON.stringify(look(root))).not.toContain(secret);
});
