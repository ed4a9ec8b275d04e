import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../src/host/program.js';

const PROVE = join(packageRoot(), 'test/prove.mjs');
const LIMIT_MS = 60_000;
const prove = (...words: string[]) => spawnSync(process.execPath, [PROVE, ...words], { encoding: 'utf8' });

test('`npm run prove` lists each proof in a line, and each has its program', () => {
  const { status, stdout } = prove();
  const names = stdout.trimEnd().split('\n');
  expect(status).toBe(0);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((line) => !/^[a-z-]+ {2,}\S.{20,90}$/.test(line))).toEqual([]);
  const modules = [...readFileSync(PROVE, 'utf8').matchAll(/\['(test\/\S+)\.js'/g)].map(([, path]) => `${path}.ts`);
  expect(modules).toHaveLength(names.length);
  expect(modules.filter((path) => !existsSync(join(packageRoot(), path)))).toEqual([]);
});

test('a name that there is not is refused, with those that there are', () => {
  expect(prove('row')).toMatchObject({ status: 2, stderr: expect.stringMatching(/no proof "row"; one of .*\brows\b/) });
});

test(
  'a proof gets the words behind its name, and its exit code is that of the command',
  () => {
    expect(prove('rows', '--only', 'none')).toMatchObject({ status: 0, stdout: expect.stringContaining('0 pass') });
    expect(prove('rows', '--no-such-option').status).toBe(1);
  },
  LIMIT_MS,
);
