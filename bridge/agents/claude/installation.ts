/** Finds the SDK and its program, each time: `npm ci` removes them, and Node's own resolution remembers what was missing. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SDK_PACKAGE } from './sdk.js';

export const HOW_TO_INSTALL = "type `npm run add-claude` in Watchkeeper's folder";

type Installation =
  | { readonly kind: 'complete'; readonly program: string }
  /** `why` says in a clause why no run can begin. */
  | { readonly kind: 'incomplete'; readonly why: string };

/** @param from the folder where the search for the package begins */
export function findInstallation(
  sdk: string = SDK_PACKAGE,
  from: string = dirname(fileURLToPath(import.meta.url)),
): Installation {
  const manifest = findBelowModules(from, join(sdk, 'package.json'));
  if (manifest === null) {
    return { kind: 'incomplete', why: `the agent "claude" needs the package ${sdk}, which is not installed` };
  }
  for (const name of programNames()) {
    const program = findBelowModules(dirname(manifest), name);
    if (program !== null) return { kind: 'complete', program };
  }
  // It comes in a separate optional package for each platform.
  const platform = `${process.platform}-${process.arch}`;
  return { kind: 'incomplete', why: `the package ${sdk} is installed without its program for ${platform}` };
}

/** In the same order as the SDK (0.3.329) looks for it; npm installs the one that fits the system's C library. */
function programNames(): string[] {
  const { platform, arch } = process;
  const variants = platform === 'linux' ? ['', '-musl'] : [''];
  return variants.map((variant) => `${SDK_PACKAGE}-${platform}-${arch}${variant}/claude`);
}

/** @returns the path below the nearest `node_modules` folder that has it, without links, as Node would find it; null if none has */
function findBelowModules(from: string, path: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', path);
    if (existsSync(found)) return realpathSync(found);
    if (dirname(folder) === folder) return null;
  }
}
