import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where this file is in the sources and in each build. */
const OWN_PATH = 'src/host/program.js';

/**
 * Child processes run compiled code, also where their parent runs from the sources. They run the parent's own build, also when
 * a newer one has been made.
 *
 * @param path below the package's root, without extension: `bridge/runs/reaperMain`
 * @returns the compiled program's absolute path
 * @throws Error where no package surrounds this file
 */
export function compiledProgram(path: string): string {
  const own = fileURLToPath(import.meta.url);
  const build = own.endsWith(OWN_PATH) ? own.slice(0, -OWN_PATH.length) : join(packageRoot(), 'dist');
  return join(build, `${path}.js`);
}

/**
 * @returns the folder of the package, whether this file runs compiled or from the sources
 * @throws Error where no package surrounds this file
 */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package.json above ${fileURLToPath(import.meta.url)}`);
    folder = parent;
  }
  return folder;
}
