// A reporter for jest that writes a line per test file as soon as that file is done: what has been counted stays counted,
// however the run ends. CI reads it, see .ci/run.
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

export default class Tally {
  #file = process.env.WATCHKEEPER_TEST_TALLY;
  #root;

  constructor(globalConfig) {
    this.#root = globalConfig.rootDir;
  }

  onTestResult(_test, result) {
    if (!this.#file) return;
    const failed = result.numFailingTests + (result.testExecError && result.numFailingTests === 0 ? 1 : 0);
    const line = { file: relative(this.#root, result.testFilePath), passed: result.numPassingTests, failed };
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}
