// A reporter for jest that writes a line per test file as soon as that file is done: what has been counted stays counted,
// however the run ends. CI reads it, see .ci/run. At the end it prints which files took the most processor time.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const MOST_SHOWN = 15;

export default class Tally {
  #file = process.env.WATCHKEEPER_TEST_TALLY;
  #root;
  #folder = mkdtempSync(join(tmpdir(), 'wk-tally-'));
  #measured = join(this.#folder, 'processor.jsonl');

  constructor(globalConfig) {
    this.#root = globalConfig.rootDir;
    // Every test environment writes there, see environment.mjs; jest lets them say nothing else to a reporter.
    process.env.WATCHKEEPER_TEST_PROCESSOR = this.#measured;
  }

  onTestResult(_test, result) {
    if (!this.#file) return;
    const failed = result.numFailingTests + (result.testExecError && result.numFailingTests === 0 ? 1 : 0);
    const processor_ms = this.#processor().get(result.testFilePath) ?? null;
    const { start, end } = result.perfStats;
    const file = relative(this.#root, result.testFilePath);
    const line = { file, passed: result.numPassingTests, failed, processor_ms, wall_ms: end - start };
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  onRunComplete() {
    const all = [...this.#processor()].sort(([, one], [, other]) => other - one);
    rmSync(this.#folder, { recursive: true });
    const sum = all.reduce((total, [, ms]) => total + ms, 0);
    const lines = all.slice(0, MOST_SHOWN).map(([path, ms]) => `${seconds(ms)}  ${relative(this.#root, path)}`);
    process.stderr.write(`\nProcessor time, ${all.length} files: ${seconds(sum).trim()}\n${lines.join('\n')}\n`);
  }

  /** @returns milliseconds by file */
  #processor() {
    const lines = existsSync(this.#measured) ? readFileSync(this.#measured, 'utf8').split('\n').filter(Boolean) : [];
    return new Map(lines.map((line) => JSON.parse(line)));
  }
}

function seconds(ms) {
  return `${(ms / 1_000).toFixed(1).padStart(6)} s`;
}
