/**
 * `watchkeeper demo`: the whole story on real parts, within a minute, with no account anywhere. It leaves `demo-output/` in the
 * current directory, checks its claims against those files, and makes a page of them. Exit code 0: every claim holds; 1: one
 * does not, or the story broke off; 130: interrupted. The build makes one program of this file and all that it imports.
 */

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import { describeError } from '../../src/errors.js';
import { describeDuration, isoTime, systemClock } from '../../src/time.js';
import { type BridgeScene, openScene } from '../e2e/bridgeScene.js';
import { canScan } from '../e2e/processScan.js';
import { SCENE_MARK } from '../e2e/sweeper.js';
import { patience } from '../harness/patience.js';
import { type Checked, checkClaims, tellClaims } from './checkClaims.js';
import { Narrator, type Stage, stageOf } from './narrator.js';
import { demoPage } from './page/page.js';
import { LEFT_PROCESSES, type LeftProcesses, Readings, SEEN_CHATS, TOKENS, type Tokens } from './readings.js';
import { CONFIGURATION, SILENCE_MS } from './scenarios.js';
import { playStory } from './story.js';

const FOLDER = resolve('demo-output');
const PAGE = 'index.html';
const SWEEPER = fileURLToPath(new URL('sweeperMain.js', import.meta.url));
/** Written into the folder, so that only what a demo has filled is ever emptied. */
const SIGN = 'made-by-the-demo.txt';
/** A busy machine takes many times longer than a quiet one. */
const LONGEST_STORY_MS = 120_000 * patience();
const INTERRUPTED = 130;
const IS_JSON = process.argv.includes('--json');

async function main(narrator: Narrator): Promise<number> {
  if (!canScan()) throw new Error('the demo looks for processes in /proc, which this system does not have');
  prepareFolder();
  const [shown, usual] = [SILENCE_MS, DEFAULT_THRESHOLDS.silence_ms].map(describeDuration);
  narrator.heading(`Five messages, and what becomes of them. Silence counts after ${shown} instead of ${usual}.`);
  const scene = await openScene({ ...CONFIGURATION, folder: FOLDER, redis: 'bridge', sweeper: SWEEPER });
  const tokens: Tokens = {
    note: 'Tokens of the stand-ins for Telegram and GitHub, good for nothing else. No file below logs/ may hold one.',
    tokens: [scene.telegram.token, scene.github.token],
  };
  const interrupted = untilInterrupted();
  const end = await Promise.race([play(scene, narrator), interrupted, late()]);
  if (end === 'interrupted') narrator.heading('Interrupted: everything is being ended.');
  const found = await scene.stop();
  keep(TOKENS, tokens);
  const looked_for = `every process with the variable ${SCENE_MARK} of this demo in its environment`;
  keep(SEEN_CHATS, scene.telegram.state().chats);
  keep(LEFT_PROCESSES, { time: isoTime(systemClock.now()), looked_for, found } satisfies LeftProcesses);
  switch (end) {
    case 'interrupted':
      return INTERRUPTED;
    case 'late':
      throw new Error(`the story is not over after ${LONGEST_STORY_MS} ms`);
    case 'played':
      return tellOutcome(narrator) ? 0 : 1;
    default:
      throw end;
  }
}

/** Everything that the story starts is ended before its fault is told. */
async function play(scene: BridgeScene, narrator: Narrator): Promise<'played' | Error> {
  try {
    await playStory(scene, narrator);
    return 'played';
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** @returns whether every claim holds */
function tellOutcome(narrator: Narrator): boolean {
  const readings = new Readings(FOLDER);
  const claims = checkClaims(readings);
  const page = join(FOLDER, PAGE);
  writeFileSync(page, demoPage(readings, claims));
  const allHold = tellClaims(claims, narrator);
  narrator.heading(allHold ? 'Every claim holds.' : 'The demo FAILED.');
  narrator.line(`Chats, issues, events and the review, to look at: ${pathToFileURL(page)}`);
  if (IS_JSON) process.stdout.write(`${JSON.stringify(outcomeOf(claims, page))}\n`);
  return allHold;
}

function outcomeOf(claims: readonly Checked[], page: string): object {
  const told = claims.map(({ says, contradictions }) => ({ says, holds: contradictions.length === 0, contradictions }));
  return { holds: told.every(({ holds }) => holds), claims: told, page };
}

function keep(file: string, content: object): void {
  writeFileSync(join(FOLDER, file), `${JSON.stringify(content, null, 2)}\n`);
}

function prepareFolder(): void {
  if (existsSync(FOLDER) && !existsSync(join(FOLDER, SIGN))) {
    throw new Error(`${FOLDER} is no folder of an earlier demo; move it away, or run the demo in another directory`);
  }
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  writeFileSync(join(FOLDER, SIGN), '`watchkeeper demo` empties this folder at its start.\n');
}

function untilInterrupted(): Promise<'interrupted'> {
  return new Promise((interrupt) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt('interrupted'));
    // Nobody reads any more.
    process.stdout.on('error', () => interrupt('interrupted'));
  });
}

function late(): Promise<'late'> {
  return pause(LONGEST_STORY_MS, 'late' as const, { ref: false });
}

const SILENT: Stage = { write: () => undefined, colours: false, width: 0 };
const narrator = new Narrator(IS_JSON ? SILENT : stageOf(process.stdout));
// What the story still waits for when it is broken off must not keep the program alive.
process.exit(
  await main(narrator).catch((error: unknown) => {
    const words = `The demo FAILED: ${error instanceof Error ? error.message : describeError(error)}`;
    if (IS_JSON) process.stderr.write(`${words}\n`);
    narrator.heading(words);
    narrator.line(`What is there of its evidence stands in ${FOLDER}`);
    return 1;
  }),
);
