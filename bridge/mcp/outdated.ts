/** A server keeps running while its installation is replaced. Then it is the server that has to start again, and no update helps. */
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import * as z from 'zod/mini';
import { homeFolder, Places } from '../../memory/home/places.js';
import { UsageError } from '../../src/errors.js';
import { realPathOf } from '../../src/files/seenFile.js';
import { buildOf } from '../../src/host/program.js';
import { lookAtInstallation } from '../plugin/installation.js';

/** Below a build; it is written last, and says the version. */
const TOOL_LIST = 'bridge/mcp/tools.json';
const VERSION = z.object({ version: z.string() });

/** The build that a server runs. */
export interface OwnBuild {
  /** As it was when the server started: a package manager may have replaced the file since. */
  readonly version: string;
  readonly folder: string;
}

/** For a model, and for the person whom it asks. */
export const RESTART =
  'restart this MCP server, which is older than the installation (in Claude Code: /mcp, then Reconnect; in Codex: end it, and resume the conversation), and call the tool again';

/**
 * @param variables that say where the home is
 * @returns whether the installation that would be started now is newer than the server's build. False if that is not known
 */
export function isOutdated(own: OwnBuild, variables: Parameters<typeof homeFolder>[0]): boolean {
  const root = installedIn(variables);
  const build = root === null ? null : realPathOf(buildOf(root, TOOL_LIST));
  const version = build === null ? null : versionIn(build);
  if (build === null || version === null) return false;
  const order = comparedVersions(version, own.version);
  if (order !== 0) return order > 0;
  return build !== realPathOf(own.folder) && timeOf(build) > timeOf(own.folder);
}

function installedIn(variables: Parameters<typeof homeFolder>[0]): string | null {
  try {
    const root = lookAtInstallation(new Places(homeFolder(variables))).installation?.root ?? '';
    return isAbsolute(root) ? root : null;
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

function versionIn(build: string): string | null {
  try {
    return VERSION.safeParse(JSON.parse(readFileSync(join(build, TOOL_LIST), 'utf8'))).data?.version ?? null;
  } catch {
    return null;
  }
}

/** @returns in milliseconds; 0 for a build that was removed: only old ones are */
function timeOf(build: string): number {
  try {
    return statSync(join(build, TOOL_LIST)).mtimeMs;
  } catch {
    return 0;
  }
}

/** @returns negative if the first one is older, 0 if both are the same but for what follows their numbers */
function comparedVersions(left: string, right: string): number {
  const [one, other] = [left, right].map((version) => version.split(/[-+]/, 1)[0]?.split('.').map(Number) ?? []);
  for (const index of [0, 1, 2]) {
    const difference = (one?.[index] ?? 0) - (other?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
