/**
 * `npm run prove -- chaos`: rounds of faults on real processes, until so many of them hit something or the time is over; with
 * `--failpoints` every failpoint with SIGKILL, once. Exit code 0: nothing was violated; 1: something was, and its evidence stays.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeError } from '../../src/errors.js';
import { proofOptions } from '../harness/proofOptions.js';
import { PACE, ROUNDS_PER_SCENE } from './cast.js';
import { POINTS, planRound, type RoundPlan, systematicRound } from './plan.js';
import { playScene } from './playScene.js';
import { appendLine, type RoundResult, readLines, type SceneResult } from './records.js';
import { failpointTable, roundLine, summary } from './report.js';

const values = proofOptions('chaos', {
  seed: [1, 'of the random faults'],
  rounds: [20, 'how many must hit something'],
  within: [540, 'seconds after which no further scene is begun'],
  out: ['chaos-output', 'the folder of the evidence'],
  resume: [false, 'continue the run in that folder'],
  failpoints: [false, 'every failpoint with SIGKILL, once'],
  lease: [PACE.leaseMs, 'milliseconds of a lease'],
  checks: [PACE.checks, 'the schedule by which the watchdog looks at everything'],
  agents: [PACE.concurrency, 'how many work at a time'],
  plans: [null, 'a file of plans made by hand, JSON; played again and again until so many rounds have hit'],
});
const brokenOff = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => brokenOff.abort(new Error(`broken off by ${signal}; --resume goes on`)));
}
const out = resolve(values.out);
const handmade = values.plans === null ? null : (JSON.parse(readFileSync(values.plans, 'utf8')) as RoundPlan[]);
const pace = { leaseMs: values.lease, checks: values.checks, concurrency: values.agents };
const scenesFile = join(out, 'scenes.jsonl');

async function main(): Promise<number> {
  if (existsSync(scenesFile) && !values.resume) {
    throw new Error(`${out} holds an earlier run: go on with --resume, or name another folder with --out`);
  }
  mkdirSync(out, { recursive: true });
  const played = readLines<SceneResult>(scenesFile);
  const begun = performance.now();
  const isOver = () => performance.now() - begun > 1_000 * values.within;
  for (let plans = next(played); plans.length > 0 && !isOver(); plans = next(played)) {
    brokenOff.signal.throwIfAborted();
    const result = await playScene(freeFolder(), plans, pace, tell, brokenOff.signal);
    for (const violation of result.violations) say(`  VIOLATION in ${result.scene}: ${violation}`);
    played.push(result);
    appendLine(scenesFile, result);
  }
  say(values.failpoints ? failpointTable(played) : summary(played));
  return played.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

/** @returns the plans of the next scene; none when all is played */
function next(played: readonly SceneResult[]): RoundPlan[] {
  const rounds = played.flatMap((scene) => scene.rounds);
  if (values.failpoints) {
    return POINTS.map((name, index) => systematicRound(index, name)).slice(
      rounds.length,
      rounds.length + ROUNDS_PER_SCENE,
    );
  }
  const missing = values.rounds - rounds.filter(({ effective }) => effective).length;
  const count = Math.min(missing, ROUNDS_PER_SCENE);
  return Array.from({ length: Math.max(count, 0) }, (_, index) => planOf(rounds.length + index));
}

function planOf(round: number): RoundPlan {
  const plan = handmade?.[round % handmade.length];
  return plan === undefined ? planRound(values.seed, round) : { ...plan, round };
}

/** A scene that was broken off is not counted, and its folder stays. */
function freeFolder(): string {
  for (let number = 1; ; number += 1) {
    const folder = join(out, `s${number}`);
    if (!existsSync(folder)) return folder;
  }
}

function tell(result: RoundResult): void {
  say(roundLine(result));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`chaos: ${describeError(error)}\n`);
  // A scene that was broken off leaves rounds that wait for what comes no more.
  process.exit(1);
});
