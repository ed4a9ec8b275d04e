/** Failpoints: each name stands in the code, each action does what it says, and nothing trips that was not armed. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { COMMIT_NAMES, FAILPOINTS, type FailpointAction } from '../../src/failpoints.js';
import { compiledProgram, packageRoot } from '../../src/host/program.js';
import { testFolder } from '../harness/folder.js';

const ROOT = packageRoot();

// rule: a-failpoint-is-named-once
test('every failpoint is in the code once, and every commit name is used by a commit', () => {
  const code = sources();
  const passed = [...code.matchAll(/\bfailpoint\('([\w.]+)'\)/g)].map(([, name]) => name ?? '');
  const outside = FAILPOINTS.filter((name) => !name.startsWith('commit.'));
  expect(passed.sort()).toEqual([...outside].sort());
  const places = (name: string) => [`at: '${name}'`, `? '${name}'`, `: '${name}',`, `      '${name}',`];
  const unplaced = COMMIT_NAMES.filter((name) => !places(name).some((place) => code.includes(place)));
  expect(unplaced.filter((name) => !code.includes(`this.step('${name}',`))).toEqual([]);
});

test.each<[FailpointAction, string, object]>([
  ['kill', 'lease.before:kill:1', { status: null, signal: 'SIGKILL', stdout: 'one ' }],
  ['throw', 'lease.before:throw:2', { status: 0, stdout: 'one two failpoint commit.lease.before' }],
  ['delay', 'lease.before:delay:1', { status: 0, stdout: 'one two three' }],
])('the action %s trips at the requested time, and is logged', (action, text, end) => {
  const child = run(`commit.${text}`);
  expect(child).toMatchObject(end);
  expect(child.stderr).toBe(`failpoint commit.lease.before tripped: ${action}\n`);
});

// rule: a-failpoint-can-be-armed-later
test('an order in a file is followed by running processes, once', () => {
  const file = join(testFolder(), 'order');
  const disarmed = { status: 0, stdout: 'one two three', stderr: '' };
  expect(run(`@${file}`)).toMatchObject(disarmed);
  writeFileSync(file, 'commit.lease.before:throw:2');
  expect(run(`@${file}`)).toMatchObject({ stdout: 'one two failpoint commit.lease.before' });
  expect(run(`@${file}`)).toMatchObject(disarmed);
});

test('nothing trips if nothing is armed', () => {
  expect(run('')).toMatchObject({ status: 0, stdout: 'one two three', stderr: '' });
});

test('the command line rejects an unknown failpoint with an explanation', () => {
  const child = spawnSync(process.execPath, [compiledProgram('bridge/cli/main'), '--version'], {
    encoding: 'utf8',
    env: { WATCHKEEPER_FAILPOINT: 'commit.lease.before:explode:1' },
  });
  expect(child).toMatchObject({ status: 2, stdout: '' });
  expect(child.stderr).toContain('one of the actions kill, stop, throw, delay');
});

/** Passes one failpoint twice, with a word before, between and after. */
function run(text: string) {
  const program = `
    const { armFailpoint, failpoint } = await import(${JSON.stringify(pathToFileURL(compiledProgram('src/failpoints')).href)});
    const { writeSync } = await import('node:fs');
    armFailpoint(${text === '' ? 'undefined' : JSON.stringify(text)});
    writeSync(1, 'one ');
    failpoint('commit.lease.after');
    failpoint('commit.lease.before');
    writeSync(1, 'two ');
    try {
      failpoint('commit.lease.before');
      writeSync(1, 'three');
    } catch (error) {
      writeSync(1, error.message);
    }`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
}

function sources(): string {
  return ['src', 'memory', 'monitoring', 'bridge']
    .flatMap((ring) => readdirSync(join(ROOT, ring), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}
