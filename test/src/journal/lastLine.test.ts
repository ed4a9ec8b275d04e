import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { standInForFiles, whileFailing } from '../../harness/failingFiles.js';
import { testFolder } from '../../harness/folder.js';

// covers: src/journal/lastLine.ts

standInForFiles();
const { UnreachableError } = await import('../../../src/errors.js');
const { readLastLine } = await import('../../../src/journal/lastLine.js');

test('where no file is, or a link, a folder, or what is below a file, there is no last line', () => {
  const folder = testFolder();
  const path = join(folder, 'journal');
  writeFileSync(path, '{"a":1}\n{"b":2}\n');
  symlinkSync(path, join(folder, 'link'));
  mkdirSync(join(folder, 'folder'));
  expect(readLastLine(path)).toEqual({ b: 2 });
  for (const name of ['none', 'link', 'folder', 'journal/below']) expect(readLastLine(join(folder, name))).toBeNull();
});

test.each(['EMFILE', 'EIO', 'EACCES'])('a line that cannot be read is not taken for none: %s', (code) => {
  const path = join(testFolder(), 'journal');
  writeFileSync(path, '{"b":2}\n');
  const look = () => whileFailing(path, code, () => readLastLine(path));
  expect(look).toThrow(UnreachableError);
  expect(look).toThrow(`${path} cannot be read: ${code}`);
});
