import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterThisTest } from './scope.js';

/** @returns the path of a new empty folder; removed when the test passed, left as evidence when it failed */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wk-'));
  afterThisTest((passed) => {
    if (passed) rmSync(folder, { recursive: true, force: true });
    else process.stderr.write(`evidence of the failed test: ${folder}\n`);
  });
  return folder;
}
