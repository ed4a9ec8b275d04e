/** How much memory a piece of work takes at most, in a process of its own. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launcherOf } from '../test/bridge/cli/launcher.js';

/**
 * @param folder in which the launcher may lie
 * @param words what the process does, as `peakMain.ts` names it
 * @returns the most resident memory that it had, in megabytes
 */
export function peakOf(folder: string, words: readonly string[]): number {
  const place = join(folder, 'launched');
  const program = fileURLToPath(new URL('peakMain.js', import.meta.url));
  const launcher = existsSync(place) ? join(place, 'bin/watchkeeper') : launcherOf(program, place);
  const { stdout, stderr, status } = spawnSync(launcher, words, { encoding: 'utf8', maxBuffer: 1e9 });
  const said = /^peak (\d+)$/m.exec(stdout);
  if (status !== 0 || said === null) throw new Error(`the process ended with ${status}: ${stderr}`);
  return Number(said[1]) / 1e6;
}
