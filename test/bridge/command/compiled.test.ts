/** Programs start from the code that the build kept, and from none that is damaged. */
import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compiledScript } from '../../../bridge/command/compiled.js';
import { compiledProgram } from '../../../src/host/program.js';
import { testFolder } from '../../harness/folder.js';

const [CLI, HOOK] = ['cli', 'hook'].map((room) => join(compiledProgram(`bridge/${room}/main`), '../program.cjs'));

/** @returns whether a copy of the hook's program starts from code that was kept, after that was changed */
function startsCompiled(change: (cache: string) => void): boolean {
  const copy = join(testFolder(), 'program.cjs');
  for (const end of ['', '.cache']) copyFileSync(`${HOOK}${end}`, `${copy}${end}`);
  change(`${copy}.cache`);
  return compiledScript(copy).cachedDataRejected === false;
}

function flipBit(path: string): void {
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test.each([CLI, HOOK])('%s starts from the code that the build kept', (path) => {
  expect(compiledScript(path ?? '').cachedDataRejected).toBe(false);
});

test('code that is damaged, cut off or gone is left alone', () => {
  expect(startsCompiled(() => undefined)).toBe(true);
  expect(startsCompiled(flipBit)).toBe(false);
  expect(startsCompiled((path) => truncateSync(path, 100))).toBe(false);
  expect(startsCompiled((path) => rmSync(path))).toBe(false);
});
