/**
 * `npm run prove -- mutants [--only WORDS] [--out DIR]`: puts each fault of `mutants.ts` back, in a copy of the sources, and plays what
 * provokes it until a violation says so, for three minutes at the most. Exit code 0: every mutant was caught.
 */

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeError } from '../../src/errors.js';
import { packageRoot } from '../../src/host/program.js';
import { proofOptions } from '../harness/proofOptions.js';
import { PACE } from './cast.js';
import { MUTANTS, type Mutant } from './mutants.js';
import { readLines, type SceneResult } from './records.js';

const values = proofOptions('mutants', {
  only: ['', 'words in the names of the mutants'],
  out: ['mutants-output', 'the folder of the evidence'],
});
const SOURCES = [
  'bridge',
  'memory',
  'monitoring',
  'src',
  'test',
  'bench',
  'bin',
  'build.mjs',
  'package.json',
  'tsconfig.json',
];
const LONGEST_MS = 180_000;
const BUILD_WITHIN_MS = 120_000;
const ROUNDS_AT_ONCE = 6;
const SCENE_WITHIN_S = 45;
const KILL_AFTER_MS = 10_000;

async function main(): Promise<number> {
  const chosen = MUTANTS.filter(({ name }) => name.includes(values.only));
  if (chosen.length === 0) throw new Error(`no mutant has "${values.only}" in its name`);
  let survivors = 0;
  for (const mutant of chosen) {
    const begunAt = performance.now();
    const found = await hunt(mutant);
    const took = `${Math.round((performance.now() - begunAt) / 1_000)} s`;
    if (found === null) survivors += 1;
    say(found === null ? `SURVIVED  ${mutant.name} (${took})` : `caught    ${mutant.name} (${took}): ${found}`);
  }
  say(`${chosen.length - survivors} of ${chosen.length} mutants were caught`);
  return survivors === 0 ? 0 : 1;
}

/** @returns the violation that says what the mutant did; null where none did in time */
async function hunt(mutant: Mutant): Promise<string | null> {
  // Short: the path of a socket ends at about 100 bytes.
  const out = join(resolve(values.out), `m${MUTANTS.indexOf(mutant) + 1}`);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const tree = mkdtempSync(join(tmpdir(), 'mutant-'));
  try {
    await makeTree(tree, mutant);
    const end = performance.now() + LONGEST_MS;
    for (let turn = 1; performance.now() < end; turn += 1) {
      const violations = await provoke(tree, mutant, join(out, String(turn)), end - performance.now());
      const found = violations.find((violation) => mutant.caughtBy.test(violation));
      if (found !== undefined) return found;
    }
    return null;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

async function makeTree(tree: string, { edits }: Mutant): Promise<void> {
  const root = packageRoot();
  for (const name of SOURCES) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(tree, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  for (const { file, find, replace } of edits) {
    const path = join(tree, file);
    // As a function: a `$` in the text means nothing.
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(find, () => replace),
    );
  }
  const { code, output } = await run(process.execPath, ['build.mjs'], tree, BUILD_WITHIN_MS);
  if (code !== 0) throw new Error(`the mutant cannot be built:\n${output}`);
}

async function provoke(
  tree: string,
  { provokedBy, pace = {} }: Mutant,
  out: string,
  withinMs: number,
): Promise<string[]> {
  mkdirSync(out, { recursive: true });
  if (provokedBy === 'adversary') {
    const args = [
      join(tree, 'dist/test/adversary/main.js'),
      '--minutes',
      '1',
      '--calm',
      '--out',
      join(out, 'adversary'),
    ];
    const { output } = await run(process.execPath, args, tree, withinMs);
    writeFileSync(join(out, 'output.log'), output);
    return output.split('\n');
  }
  const plans = join(out, 'plans.json');
  writeFileSync(plans, JSON.stringify(provokedBy));
  const scenes = join(out, 'chaos');
  const args = [join(tree, 'dist/test/chaos/main.js'), '--plans', plans, '--out', scenes];
  const { leaseMs, checks, concurrency } = { ...PACE, ...pace };
  args.push('--lease', String(leaseMs), '--checks', checks, '--agents', String(concurrency));
  const bounds = ['--rounds', String(ROUNDS_AT_ONCE), '--within', String(SCENE_WITHIN_S)];
  const { output } = await run(process.execPath, [...args, ...bounds], tree, withinMs);
  writeFileSync(join(out, 'output.log'), output);
  return readLines<SceneResult>(join(scenes, 'scenes.jsonl')).flatMap(({ violations }) => violations);
}

/** Asked to stop when its time is over; its own scene ends what it started. */
function run(command: string, args: string[], cwd: string, withinMs: number) {
  return new Promise<{ code: number | null; output: string }>((done, failed) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const asked = setTimeout(() => child.kill('SIGTERM'), withinMs);
    const forced = setTimeout(() => child.kill('SIGKILL'), withinMs + KILL_AFTER_MS);
    child.once('error', failed);
    child.once('close', (code) => {
      clearTimeout(asked);
      clearTimeout(forced);
      done({ code, output });
    });
  });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`mutants: ${describeError(error)}\n`);
  return 1;
});
