/** Which plants git can be shown to run here: not every host has all parts of git. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Plant } from './plants.js';

const FOLDERS = [
  ...(process.env.PATH ?? '').split(delimiter),
  spawnSync('git', ['--exec-path'], { encoding: 'utf8' }).stdout.trim(),
];

/** @returns what has to be installed for the proof of a plant, and is not; null if nothing is missing */
export function missingPart({ needs }: Plant): string | null {
  return needs === undefined || FOLDERS.some((folder) => existsSync(join(folder, needs))) ? null : needs;
}
