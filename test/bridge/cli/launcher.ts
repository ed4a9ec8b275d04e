/** What the package installs as `watchkeeper`. */
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../src/host/program.js';

export const LAUNCHER = join(packageRoot(), 'bin/watchkeeper');

/**
 * @param program absolute path of what is to run in the command line's place
 * @param folder becomes its package: holds nothing below `bin` and `dist` yet
 * @returns the path of a launcher that starts it as the command line is started
 */
export function launcherOf(program: string, folder: string): string {
  const launcher = join(folder, 'bin/watchkeeper');
  const entry = join(folder, 'dist/bridge/cli/main.js');
  for (const path of [launcher, entry]) mkdirSync(dirname(path), { recursive: true });
  copyFileSync(LAUNCHER, launcher);
  symlinkSync(program, entry);
  return launcher;
}
