import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ownBuild, packageRoot } from '../src/host/program.js';

const PROVE = join(packageRoot(), 'test/prove.mjs');
const LIMIT_MS = 60_000;
const run = (...words: string[]) => spawnSync(process.execPath, words, { encoding: 'utf8' });
const prove = (...words: string[]) => run(PROVE, ...words);
/** By name, the compiled program of each proof. */
const PROGRAMS = [...readFileSync(PROVE, 'utf8').matchAll(/^ {2}'?([a-z-]+)'?: \['(test\/\S+\.js)'/gm)].map(
  ([, name = '', path = '']) => [name, join(ownBuild(), path)] as const,
);

test('`npm run prove` lists each proof in a line, and each has its program', () => {
  const { status, stdout } = prove();
  expect(prove('--help')).toMatchObject({ status, stdout });
  const names = stdout.trimEnd().split('\n');
  expect(status).toBe(0);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((line) => !/^[a-z-]+ {2,}\S.{20,90}$/.test(line))).toEqual([]);
  expect(PROGRAMS.map(([name]) => name)).toEqual(names.map((line) => line.split(' ')[0]));
  expect(PROGRAMS.filter(([, path]) => !existsSync(path))).toEqual([]);
});

test.each(PROGRAMS)(
  '%s shows its options',
  (name, program) => {
    const usage = `^npm run prove -- ${name}(?:: takes no options| \\[OPTION…\\])\n(?: {2}--\\S.* {2}\\S.*\n)*$`;
    const { status, stdout } = run(program, '--help');
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(new RegExp(usage)) });
  },
  LIMIT_MS,
);

test.each([
  [['--no-such-option'], 'unknown option --no-such-option (--help shows them all)'],
  [['--rounds', 'many'], '--rounds is "many", and must be a number, such as 20'],
  [['ten'], '"ten" is one word too many; --help shows the usage'],
])(
  'a proof refuses %j in a sentence',
  (words, sentence) => {
    const program = PROGRAMS.find(([name]) => name === 'memory-races')?.[1] ?? '';
    const { status, stdout, stderr } = run(program, ...words);
    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: `memory-races: ${sentence}\n` });
  },
  LIMIT_MS,
);

test('a name that there is not is refused, with those that there are', () => {
  expect(prove('row')).toMatchObject({ status: 2, stderr: expect.stringMatching(/no proof "row"; one of .*\brows\b/) });
});

test(
  'a proof gets the words behind its name, and its exit code is that of the command',
  () => {
    expect(prove('rows', '--only', 'none')).toMatchObject({ status: 0, stdout: expect.stringContaining('0 pass') });
    expect(prove('rows', '--no-such-option').status).toBe(2);
  },
  LIMIT_MS,
);
