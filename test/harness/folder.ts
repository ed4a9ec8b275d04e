import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { errorCode } from '../../src/errors.js';
import { afterThisTest } from './scope.js';

const MOST_TRIES = 20;

/** @returns the path of a new empty folder; removed when the test passed, left as evidence when it failed */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wk-'));
  afterThisTest((passed) => {
    if (passed) remove(folder);
    else process.stderr.write(`evidence of the failed test: ${folder}\n`);
  });
  return folder;
}

/** Lets other users read a folder, also where the folder for temporary files itself is private, as CI's is. */
export function openToOthers(folder: string): void {
  const { mode } = statSync(folder);
  chmodSync(folder, mode | 0o055);
  if (folder !== tmpdir() && folder !== dirname(folder)) openToOthers(dirname(folder));
}

/** A process that was started aside may still write to it, and `rmSync` tries each folder again, but does not list it again. */
function remove(folder: string): void {
  for (let tries = 0; ; tries += 1) {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
      return;
    } catch (error) {
      if (errorCode(error) !== 'ENOTEMPTY' || tries === MOST_TRIES) throw error;
    }
  }
}
