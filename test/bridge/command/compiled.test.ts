/** Programs start from the code that the build kept, and from none that is damaged. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compiledProgram } from '../../../src/host/program.js';
import { testFolder } from '../../harness/folder.js';

// covers: bridge/command/compiled.ts

const [CLI, HOOK] = ['cli', 'hook'].map((room) => join(compiledProgram(`bridge/${room}/main`), '../program.cjs'));
const MODULE = compiledProgram('bridge/command/compiled');

/** In a process of its own: a flag of V8 that another test has set here would have it compile everything anew. */
function startsCompiled(program: string, flags: readonly string[] = []): boolean {
  const code = `import { compiledScript } from ${JSON.stringify(MODULE)};
    console.log(compiledScript(${JSON.stringify(program)}).cachedDataRejected === false);`;
  const args = [...flags, '--input-type=module', '--eval', code];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

function copyWith(change: (cache: string) => void): string {
  const copy = join(testFolder(), 'program.cjs');
  for (const end of ['', '.cache']) copyFileSync(`${HOOK}${end}`, `${copy}${end}`);
  change(`${copy}.cache`);
  return copy;
}

function flipBit(path: string): void {
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test.each([CLI, HOOK])('%s starts from the code that the build kept', (path = '') => {
  expect(startsCompiled(path)).toBe(true);
  expect(startsCompiled(path, ['--max-semi-space-size=8'])).toBe(false);
});

test('code that is damaged, cut off or gone is left alone', () => {
  expect(startsCompiled(copyWith(() => undefined))).toBe(true);
  expect(startsCompiled(copyWith(flipBit))).toBe(false);
  expect(startsCompiled(copyWith((path) => truncateSync(path, 100)))).toBe(false);
  expect(startsCompiled(copyWith((path) => rmSync(path)))).toBe(false);
});
