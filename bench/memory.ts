/**
 * What do 10,000 active sessions take?
 *
 * Measured: the resident memory of a process with the whole watchdog in it that has looked at everything three times, its
 * garbage collected. It is started by the launcher of the command line, with the bounds that this sets.
 * Yardstick: the same process, before there is any session.
 * Target: at most 60 MB more.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../src/time.js';
import { launcherOf } from '../test/bridge/cli/launcher.js';
import { rounded, say, sayTarget } from './report.js';
import { figureOf } from './rounds.js';
import { inScene, populate, type Scene } from './scene.js';

const SESSIONS = 10_000;
const CALLS = 40;
const MOST_MEGABYTES = 60;
const PROCESSES = 3;

interface Sizes {
  readonly resident: number;
  readonly heap: number;
}

await inScene(async (scene) => {
  const program = fileURLToPath(new URL('memoryOfWatchdog.js', import.meta.url));
  const launcher = launcherOf(program, join(scene.folder, 'launched'));
  const before = await sizesOf(scene, launcher);
  const begun = systemClock.now();
  await populate(scene, { count: SESSIONS, calls: CALLS, lastActivityOf: () => begun });
  const after = await sizesOf(scene, launcher);
  say(`memory: ${SESSIONS} sessions with ${CALLS} calls each, ${PROCESSES} processes each way`);
  say(`  without sessions: ${describe(before)}`);
  say(`  with them: ${describe(after)}`);
  say(`  a session takes ${Math.round(((after.heap - before.heap) * 1e6) / SESSIONS)} bytes of heap`);
  const value = after.resident - before.resident;
  sayTarget({ what: 'more resident memory', value, atMost: MOST_MEGABYTES, unit: ' MB' });
});

/** @returns medians */
async function sizesOf(scene: Scene, launcher: string): Promise<Sizes> {
  const sizes: Sizes[] = [];
  for (let count = 0; count < PROCESSES; count += 1) sizes.push(await sizesOfOne(scene, launcher));
  return {
    resident: figureOf(sizes.map(({ resident }) => resident)).median,
    heap: figureOf(sizes.map(({ heap }) => heap)).median,
  };
}

async function sizesOfOne({ environment, folder }: Scene, launcher: string): Promise<Sizes> {
  const child = spawn(launcher, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(said) as Sizes;
}

function describe({ resident, heap }: Sizes): string {
  return `${rounded(resident)} MB resident, ${rounded(heap)} MB of heap`;
}
