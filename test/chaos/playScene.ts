/** Some rounds in one scene, and the look at all that they left. */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openScene } from '../e2e/bridgeScene.js';
import { sceneOptions } from './cast.js';
import { Crew } from './crew.js';
import { findViolations, laneOf, readHistory } from './invariants.js';
import { OverlapWatch } from './overlapWatch.js';
import type { RoundPlan } from './plan.js';
import { playRound } from './playRound.js';
import { HARNESS_FILES, type RoundResult, type SceneResult } from './records.js';

/** For last lines and closed incidents; a report that failed is tried again only after a minute. */
const SETTLE_MS = 6_000;
const LOOK_EVERY_MS = 50;

/**
 * @param folder an empty one; all evidence stays in it
 * @param leaseMs of runs and of the watchdog
 * @param told called after each round
 */
export async function playScene(
  folder: string,
  plans: readonly RoundPlan[],
  leaseMs: number,
  told: (result: RoundResult) => void,
): Promise<SceneResult> {
  const scene = await openScene(sceneOptions(folder, leaseMs));
  const crew = new Crew(scene);
  const overlaps = new OverlapWatch(scene, join(folder, HARNESS_FILES.overlaps), laneOf);
  const rounds: RoundResult[] = [];
  let left: Awaited<ReturnType<typeof scene.stop>> = [];
  let open = 0;
  try {
    crew.muster();
    for (const plan of plans) {
      const result = await playRound(scene, crew, plan);
      rounds.push(result);
      told(result);
    }
    const end = performance.now() + SETTLE_MS;
    const openIncidents = async () => (await scene.store.records.openIncidents().catch(() => [])).length;
    for (open = await openIncidents(); open > 0 && performance.now() < end; open = await openIncidents()) {
      await pause(LOOK_EVERY_MS);
    }
  } finally {
    crew.dismiss();
    overlaps.stop();
    left = await scene.stop();
  }
  writeFileSync(join(folder, HARNESS_FILES.left), `${JSON.stringify(left)}\n`);
  return { scene: basename(folder), rounds, violations: findViolations(readHistory(folder)), openIncidents: open };
}
