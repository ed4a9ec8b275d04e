/** Faults that take more than one process: nobody is left to follow, a host dies, Redis forgets. */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import { type FoundProcess, findRun } from '../e2e/processScan.js';
import { setClock } from './clocks.js';
import { type Crew, isReaper, ROLES } from './crew.js';
import type { Loss } from './losses.js';
import type { ClockFault, StoreLoss } from './plan.js';
import { appendLine, HARNESS_FILES } from './records.js';

const LOOK_EVERY_MS = 40;
/** The reaper lets an agent end in order first; a busy machine takes longer. */
const ENDED_WITHIN_MS = 10_000;
const INCIDENT_WITHIN_MS = 15_000;

/** Nobody is left who could end the agents but the bridge's reaper. */
export async function leaveAlone(scene: BridgeScene, crew: Crew): Promise<void> {
  crew.isHeld = true;
  const reaper = crew.reaperPid();
  for (const role of ROLES) crew.signal(role, 'SIGKILL');
  // A process that an agent was starting is seen later than the agent's end. The reaper waits for it, and ends after it.
  await until(() => (reaper === null ? liveRuns(scene).length === 0 : !isReaper(reaper)), ENDED_WITHIN_MS);
  for (const each of liveRuns(scene)) appendLine(join(scene.folder, HARNESS_FILES.orphans), each);
  crew.isHeld = false;
}

/** Bridge and agents live, and go on writing into what they have open. */
export function removeJournals({ folder, logs }: BridgeScene): void {
  const removed = join(folder, HARNESS_FILES.removed);
  mkdirSync(removed, { recursive: true });
  const place = join(removed, String(readdirSync(removed).length + 1));
  mkdirSync(place);
  // Kept for the judge, who alone looks there.
  if (existsSync(join(logs, 'sessions'))) renameSync(join(logs, 'sessions'), join(place, 'sessions'));
  const at = Date.now();
  const loss: Loss = { what: 'broken', at, until: at };
  appendLine(join(folder, HARNESS_FILES.losses), loss);
}

/** @param hasIncident whether one of the round has been detected */
export async function playClock(
  { folder }: BridgeScene,
  crew: Crew,
  { byMs, awaits, heldMs, isBridgeKilled }: ClockFault,
  hasIncident: () => boolean,
): Promise<void> {
  setClock(folder, byMs);
  try {
    if (awaits === 'incident') await until(hasIncident, INCIDENT_WITHIN_MS);
    await pause(heldMs);
    if (isBridgeKilled) crew.signal('bridge', 'SIGKILL');
  } finally {
    setClock(folder, 0);
  }
}

/** @param lostTime what is stored until it resolves is forgotten, and by FLUSHALL everything else, too */
export async function forget(scene: BridgeScene, crew: Crew, loss: StoreLoss, lostTime: () => Promise<unknown>) {
  const { redis, folder } = scene;
  const at = Date.now();
  const isPartial = loss === 'rolled_back' || loss === 'host_died';
  if (isPartial) redis.keepCopy();
  await lostTime();
  if (loss === 'lost_with_bridge') await flushWithBridge(scene, crew);
  if (loss === 'flushed') await redis.ask('FLUSHALL');
  if (loss === 'host_died') await killHost(scene, crew);
  if (isPartial) await redis.failOver();
  appendLine(join(folder, HARNESS_FILES.losses), { what: loss, at, until: Date.now() } satisfies Loss);
  crew.isHeld = false;
}

/** The bridge stands from before the loss until its end, so it stores nothing again. Its agents live on. */
async function flushWithBridge({ redis }: BridgeScene, crew: Crew): Promise<void> {
  crew.isHeld = true;
  const reaper = crew.reaperPid();
  crew.signal('bridge', 'SIGSTOP');
  kill(reaper, 'SIGKILL');
  await redis.ask('FLUSHALL');
  crew.signal('bridge', 'SIGKILL');
}

async function killHost(scene: BridgeScene, crew: Crew): Promise<void> {
  crew.isHeld = true;
  for (const role of ROLES) crew.signal(role, 'SIGKILL');
  for (const { pid } of liveRuns(scene)) kill(pid, 'SIGKILL');
  await until(() => liveRuns(scene).length === 0, ENDED_WITHIN_MS);
}

function liveRuns({ evidence }: BridgeScene): FoundProcess[] {
  const runs = new Set(evidence.agents().map(({ run }) => run));
  return [...runs].flatMap((run) => findRun(run));
}

/** @returns whether it was seen in time */
export async function until(look: () => boolean, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (!look()) {
    if (performance.now() > end) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
}

export function kill(pid: number | null, signal: NodeJS.Signals): boolean {
  if (pid === null) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
