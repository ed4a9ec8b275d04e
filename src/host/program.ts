import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where each build has the program of the command line. */
const MAIN_PROGRAM = 'bridge/cli/main.js';

/**
 * Child processes run compiled code, also where their parent runs from the sources. They run the parent's own build, also when
 * a newer one has been made.
 *
 * @param path below the package's root, without extension: `bridge/runs/reaperMain`
 * @returns the compiled program's absolute path
 * @throws Error where no package surrounds this file
 */
export function compiledProgram(path: string): string {
  // A bundle has this code in another file than its sources.
  const build = folderAbove((folder) => existsSync(join(folder, MAIN_PROGRAM))) ?? join(packageRoot(), 'dist');
  return join(build, `${path}.js`);
}

/**
 * @returns the folder of the package, whether this file runs compiled or from the sources
 * @throws Error where no package surrounds this file
 */
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
