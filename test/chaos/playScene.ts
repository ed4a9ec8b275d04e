/** Some rounds in one scene, and the look at all that they left. */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type BridgeScene, openScene } from '../e2e/bridgeScene.js';
import { listenOnLoopback } from '../peers/loopback.js';
import { isTextCall, type TextCall } from './bans.js';
import { type Pace, sceneOptions } from './cast.js';
import { Crew } from './crew.js';
import { findViolations, laneOf, readHistory } from './invariants.js';
import { watchIssues } from './issueWatch.js';
import { forgetsAll, type Loss } from './losses.js';
import { OverlapWatch } from './overlapWatch.js';
import type { RoundPlan } from './plan.js';
import { type Asked, appendLine, HARNESS_FILES, type RoundResult, readLines, type SceneResult } from './records.js';
import { Round } from './round.js';
import { seenViolations } from './seen.js';
import { Stakes } from './stakes.js';
import { StoreTrace } from './storeTrace.js';

/** For closed incidents; a report that failed is tried again only after a minute. */
const SETTLE_MS = 4_000;
/** For the last line of a progress message whose bridge stood before it wrote it: another one writes it ten seconds later. */
const LAST_LINES_MS = 13_000;
/** The same, if Redis forgot the line: the register beside the logs knows it, and its round acts after a minute. */
const FORGOTTEN_LINES_MS = 95_000;
const LOOK_EVERY_MS = 50;

/**
 * @param folder an empty one; all evidence stays in it
 * @param told called after each round, in the order of their ends
 * @param brokenOff ends the scene before its time
 * @throws the signal's reason once all processes of the scene have ended
 */
export async function playScene(
  folder: string,
  plans: readonly RoundPlan[],
  pace: Pace,
  told: (result: RoundResult) => void,
  brokenOff: AbortSignal,
): Promise<SceneResult> {
  const begun = performance.now();
  const port = await freePort();
  const scene = await openScene(sceneOptions(folder, plans, pace, port));
  const standby = { REDIS_URL: `redis://127.0.0.1:${port}` };
  const noteLoss = (loss: Loss) => appendLine(join(folder, HARNESS_FILES.losses), loss);
  const crew = new Crew(scene, { bridge: {}, watchdog: standby }, (at, isOrderly = false) =>
    noteLoss({ what: 'broken', at, until: at, isOrderly }),
  );
  watchIssues(scene, join(folder, HARNESS_FILES.filedIssues));
  const trace = new StoreTrace(port, join(folder, HARNESS_FILES.storeWrites), (role) => crew.onActing(role));
  const overlaps = new OverlapWatch(scene, join(folder, HARNESS_FILES.overlaps), laneOf);
  let rounds: RoundResult[] = [];
  let left: Awaited<ReturnType<typeof scene.stop>> = [];
  let openIncidents = 0;
  const over = new AbortController();
  try {
    trace.start();
    crew.muster();
    rounds = await Promise.race([playRounds(scene, crew, plans, told), failsWith(brokenOff, over.signal)]);
    openIncidents = await settle(scene);
    await lastLines(scene, folder);
  } finally {
    over.abort();
    crew.dismiss();
    overlaps.stop();
    left = await scene.stop();
    trace.stop();
  }
  for (const { at, method, parameters, outcome } of scene.telegram.calls.filter(isTextCall)) {
    appendLine(join(folder, HARNESS_FILES.textCalls), { at, method, parameters, outcome } satisfies TextCall);
  }
  writeFileSync(join(folder, HARNESS_FILES.left), `${JSON.stringify(left)}\n`);
  const violations = findViolations(readHistory(folder));
  const tookMs = Math.round(performance.now() - begun);
  return { scene: basename(folder), rounds, violations, openIncidents, tookMs };
}

/** @param over nobody waits for it any more */
function failsWith(signal: AbortSignal, over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over });
  });
}

/** A round begins when the fault of the one before has fallen and every message of the one before that has its end. */
async function playRounds(
  scene: BridgeScene,
  crew: Crew,
  plans: readonly RoundPlan[],
  told: (result: RoundResult) => void,
): Promise<RoundResult[]> {
  const stakes = new Stakes(scene);
  const rounds: RoundResult[] = [];
  let earlier: Promise<void> = Promise.resolve();
  let latest: Promise<void> = Promise.resolve();
  for (const plan of plans) {
    const end = await new Round(scene, crew, stakes, plan).play();
    await earlier;
    earlier = latest;
    latest = end().then((result) => {
      rounds.push(result);
      told(result);
    });
    // Whoever breaks the scene off waits for no round.
    latest.catch(() => undefined);
  }
  await Promise.all([earlier, latest]);
  return rounds.sort((left, right) => left.round - right.round);
}

/** @returns how many incidents are open still */
async function settle(scene: BridgeScene): Promise<number> {
  const end = performance.now() + SETTLE_MS;
  const openIncidents = async () => (await scene.store.records.openIncidents().catch(() => [])).length;
  let open = await openIncidents();
  for (; open > 0 && performance.now() < end; open = await openIncidents()) await pause(LOOK_EVERY_MS);
  return open;
}

/** Waits until no message that has ended shows a working line any more, but not for ever: the history is judged later. */
async function lastLines(scene: BridgeScene, folder: string): Promise<void> {
  const asked = readLines<Asked>(join(folder, HARNESS_FILES.asked));
  const losses = readLines<Loss>(join(folder, HARNESS_FILES.losses));
  const areForgotten = losses.some(({ what }) => forgetsAll(what));
  const end = performance.now() + (areForgotten ? FORGOTTEN_LINES_MS : LAST_LINES_MS);
  const isOwed = () => seenViolations(scene.telegram.transcript, asked, losses).length > 0;
  while (isOwed() && performance.now() < end) await pause(LOOK_EVERY_MS);
}

async function freePort(): Promise<number> {
  const server = await listenOnLoopback(async () => undefined);
  await server.stop();
  return Number(new URL(server.url).port);
}
