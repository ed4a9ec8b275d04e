import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { programRunner } from '../../../bridge/command/runProgram.js';
import { MINUTE, systemClock } from '../../../src/time.js';
import { eventually } from '../../e2e/eventually.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';

const PATH = process.env.PATH ?? '';
const run = programRunner({ PATH }, systemClock);
const shell = (script: string, directory = testFolder()) => ({
  program: 'sh',
  args: ['-c', script],
  directory,
  limitMs: MINUTE,
});

test('keeps both outputs and the exit code, and gives an empty standard input', async () => {
  const end = await run(shell('cat; pwd; echo no >&2; exit 3', '/'));
  expect(end).toEqual({ kind: 'exited', code: 3, out: '/\n', err: 'no\n' });
});

test('gives the environment of this process without the secrets of a bridge', async () => {
  const environment = { PATH, LANG: 'C', TELEGRAM_BOT_TOKEN: 'secret', REDIS_URL_FILE: '/secret' };
  const end = await programRunner(environment, systemClock)(shell('env'));
  expect(end).toMatchObject({ kind: 'exited', out: expect.stringMatching(/^LANG=C$/m) });
  expect(JSON.stringify(end)).not.toContain('secret');
});

test('a program that is missing is not started', async () => {
  expect(await run({ ...shell(''), program: '/nowhere/program' })).toEqual({ kind: 'not_started', why: 'ENOENT' });
  expect(await run(shell('', '/nowhere'))).toEqual({ kind: 'not_started', why: 'ENOENT' });
});

test('a program that answers is ended at its answer, with all that it has started', async () => {
  const question = { lines: ['first', 'second'], isAnswer: (line: string) => line === 'answer to second' };
  const script = 'sleep 1000 & while read -r line; do echo "answer to $line"; done';
  const end = await run({ ...shell(script), question });
  expect(end).toEqual({ kind: 'exited', code: null, out: 'answer to first\nanswer to second\n', err: '' });
});

test('a program that takes too long is ended', async () => {
  const clock = new ManualClock();
  const folder = testFolder();
  const late = programRunner({ PATH }, clock)(shell(': >started; sleep 1000 & wait', folder));
  await eventually(() => existsSync(join(folder, 'started')), { what: 'the start of the program' });
  await clock.advance(MINUTE);
  expect(await late).toEqual({ kind: 'late' });
});
