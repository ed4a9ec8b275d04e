import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { testFolder } from './harness/folder.js';

const CI = fileURLToPath(new URL('../.ci/run', import.meta.url));

it('is all that the workflow calls, on the Node that a checkout names', () => {
  const workflow = readFileSync(fileURLToPath(new URL('../.github/workflows/ci.yml', import.meta.url)), 'utf8');
  expect([...workflow.matchAll(/\brun: (.*)/g)].map(([, line]) => line)).toEqual(['.ci/run']);
  expect(workflow).toContain('node-version-file: .node-version');
  const version = readFileSync(fileURLToPath(new URL('../.node-version', import.meta.url)), 'utf8');
  expect(version).toMatch(/^\d+\n$/);
});

describe('the last line of CI', () => {
  it('is the number of tests when all pass', async () => {
    const run = await runCi('one 3 0; two 4 0');

    expect(run).toMatchObject({ lastLine: '7 passed, 0 failed', exitCode: 0 });
  }, 60_000);

  it('counts the tests that passed before the timeout', async () => {
    const run = await runCi('one 3 0; sleep 30', { WATCHKEEPER_CI_LIMIT_S: '3' });

    expect(run).toMatchObject({ lastLine: '3 passed, 1 failed', exitCode: 1 });
  }, 60_000);

  it('counts the tests that passed before the test runner died', async () => {
    const run = await runCi('one 3 0; exit 1');

    expect(run).toMatchObject({ lastLine: '3 passed, 1 failed', exitCode: 1 });
  }, 60_000);

  it('counts each failed test of a file that fails alone as well', async () => {
    const run = await runCi('one 3 0; two 2 2; exit 1', {}, 'two 2 2; exit 1');

    expect(run).toMatchObject({ lastLine: '5 passed, 2 failed', exitCode: 1 });
  }, 60_000);

  it('names a file that fails beside the others but passes alone', async () => {
    const run = await runCi('one 3 0; two 3 1; exit 1', {}, 'two 4 0');

    expect(run).toMatchObject({ lastLine: '7 passed, 0 failed', exitCode: 0 });
    expect(run.said).toContain('ci: failed beside the others: test/two.test.ts');
  }, 60_000);

  it('is a failure when files were left out, although those that failed would pass alone', async () => {
    const run = await runCi('one 3 1; exit 1', {}, 'one 4 0');

    expect(run).toMatchObject({ lastLine: '3 passed, 2 failed', exitCode: 1 });
  }, 60_000);

  it('counts a failed install', async () => {
    const run = await runCi('one 3 0; two 4 0', { CI_STUB_INSTALL: '1' });

    expect(run).toMatchObject({ lastLine: '0 passed, 1 failed', exitCode: 1 });
  }, 60_000);
});

/**
 * `.ci/run` with a stand-in for `npm`, in a package with the test files `one` and `two`.
 * @param tests what `npm test` does, in shell words: `FILE PASSED FAILED` is a file that ended
 * @param alone the same for the run of failed files alone
 */
async function runCi(tests: string, environment: Record<string, string> = {}, alone = 'exit 9') {
  const root = testFolder();
  for (const folder of ['.ci', 'test', 'bin']) mkdirSync(join(root, folder));
  copyFileSync(CI, join(root, '.ci/run'));
  for (const file of ['one', 'two']) writeFileSync(join(root, `test/${file}.test.ts`), '');
  standIn(root, 'redis-server', 'exit 0');
  standIn(
    root,
    'npm',
    `one() { ended one "$1" "$2"; }
two() { ended two "$1" "$2"; }
ended() { echo "{\\"file\\":\\"test/$1.test.ts\\",\\"passed\\":$2,\\"failed\\":$3}" >> "$WATCHKEEPER_TEST_TALLY"; }
case "$*" in
  ci*) exit "\${CI_STUB_INSTALL:-0}" ;;
  test*runTestsByPath*) ${alone} ;;
  test*) ${tests} ;;
esac`,
  );
  const ci = spawn('bash', [join(root, '.ci/run')], {
    env: {
      PATH: `${join(root, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
      TMPDIR: root,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = await Promise.all([text(ci.stdout), text(ci.stderr), once(ci, 'close')]);
  return { said: out + err, lastLine: out.trimEnd().split('\n').at(-1), exitCode: ci.exitCode };
}

function standIn(root: string, name: string, script: string): void {
  const path = join(root, 'bin', name);
  writeFileSync(path, `#!/bin/bash\n${script}\n`);
  chmodSync(path, 0o755);
}
