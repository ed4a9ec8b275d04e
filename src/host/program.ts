import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The command line's program in each build. */
const MAIN_PROGRAM = 'bridge/cli/main.js';

/**
 * Child processes run compiled code, even if their parent runs from the sources. They run the parent's own build, even if a
 * newer one has been made.
 *
 * @param path below the package's root, without extension: `bridge/runs/reaperMain`
 * @returns the compiled program's absolute path
 * @throws Error if this file is not inside a package
 */
export function compiledProgram(path: string): string {
  return join(ownBuild(), `${path}.js`);
}

/** The folder of the build that this process runs; from the sources, the newest one. @throws Error outside a package */
export function ownBuild(): string {
  // In a bundle this code is in another file than in the sources.
  return folderAbove((folder) => existsSync(join(folder, MAIN_PROGRAM))) ?? buildOf(packageRoot(), MAIN_PROGRAM);
}

/** @returns the build whose program launchers start: the newest of a checkout, the only one of an installed package */
export function buildOf(root: string, program: string): string {
  const newest = join(root, '.builds/current');
  return existsSync(join(newest, program)) ? newest : join(root, 'dist');
}

/** @returns whether the package in a folder is a checkout, which builds itself; an installed one has no sources */
export function isCheckout(root: string): boolean {
  return existsSync(join(root, 'build.mjs'));
}

/** @throws Error if this file is not inside a package */
export function packageRoot(): string {
  const root = folderAbove((folder) => existsSync(join(folder, 'package.json')));
  if (root === null) throw new Error(`no package.json above ${fileURLToPath(import.meta.url)}`);
  return root;
}

function folderAbove(fits: (folder: string) => boolean): string | null {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (fits(folder)) return folder;
    if (folder === dirname(folder)) return null;
  }
}
