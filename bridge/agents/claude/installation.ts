/**
 * Finds the SDK and its program. Checked anew each time: `npm ci` removes them, and they may come back while the bridge runs.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { SDK_PACKAGE } from './sdk.js';

export const HOW_TO_INSTALL = "type `npm run add-claude` in Watchkeeper's folder";

type Installation =
  | { readonly kind: 'complete'; readonly program: string }
  /** `why` says in a clause why no run can begin. */
  | { readonly kind: 'incomplete'; readonly why: string };

/** @param sdk the package's name */
export function findInstallation(sdk: string = SDK_PACKAGE): Installation {
  const entry = resolveFrom(import.meta.url, sdk);
  if (entry === null) {
    return { kind: 'incomplete', why: `the agent "claude" needs the package ${sdk}, which is not installed` };
  }
  for (const name of programNames()) {
    const program = resolveFrom(entry, name);
    if (program !== null && existsSync(program)) return { kind: 'complete', program };
  }
  // It comes in a separate optional package for each platform.
  const platform = `${process.platform}-${process.arch}`;
  return { kind: 'incomplete', why: `the package ${sdk} is installed without its program for ${platform}` };
}

/** In the order in which the SDK (0.3.329) looks for it; npm installs the one that fits the system's C library. */
function programNames(): string[] {
  const { platform, arch } = process;
  const variants = platform === 'linux' ? ['', '-musl'] : [''];
  return variants.map((variant) => `${SDK_PACKAGE}-${platform}-${arch}${variant}/claude`);
}

function resolveFrom(place: string, name: string): string | null {
  try {
    return createRequire(place).resolve(name);
  } catch {
    return null;
  }
}
