/** Whether other users of this host can change the files that the product trusts, or replace them. */
import { type Stats, statSync } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Settings } from '../../src/config/settings.js';
import { errorCode } from '../../src/errors.js';
import { type OwnershipFault, ownershipFault } from '../../src/files/ownFile.js';
import { seenFile } from '../../src/files/seenFile.js';
import { type CheckResult, fault, ok } from './checkResult.js';

const CONFIGURATION = 'configuration files';
/** Per folder; a folder that holds many years must not delay the doctor. */
const MOST_LOOKED_AT = 1_000;
/** In such a folder, only its owner may rename or remove a file. */
const STICKY = 0o1000;
const ENTERED_BY_OTHERS = 0o011;
const WRITTEN_BY_GROUP = 0o020;

export interface SeenFile {
  readonly path: string;
  /** A link's own. */
  readonly stat: Stats;
}

/** @returns the file, or the folder and its last files by name, down to so many levels; no sockets */
export async function filesIn(path: string, levels: number): Promise<SeenFile[]> {
  // A file that is gone by now does not matter.
  const stat = await lstat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'EACCES') return null;
    throw error;
  });
  if (stat === null || stat.isSocket()) return [];
  if (levels === 0 || !stat.isDirectory()) return [{ path, stat }];
  const names = (await readdir(path).catch(() => [])).sort().slice(-MOST_LOOKED_AT);
  const below = await Promise.all(names.map((name) => filesIn(join(path, name), levels - 1)));
  return [{ path, stat }, ...below.flat()];
}

/** @returns those that are not the user's own, with the path in `found` */
export function strangersAmong(files: readonly SeenFile[], user?: number): OwnershipFault[] {
  return files.flatMap(({ path, stat }) => {
    const trouble = ownershipFault(path, stat, user);
    return trouble === null ? [] : [{ ...trouble, found: `${path} ${trouble.found}` }];
  });
}

/** @returns whether other users can change the files that say what the bridge does: its configuration and its secrets */
export async function checkConfigurationFiles({ ownFiles }: Pick<Settings, 'ownFiles'>): Promise<CheckResult> {
  for (const path of [...ownFiles.settled, ...ownFiles.secret].filter((each) => seenFile(each) !== undefined)) {
    const way = await wayTo(path);
    if (way !== null) return fault(CONFIGURATION, `another user can change ${path}: ${way.found}`, way.remedy);
  }
  return ok(CONFIGURATION, 'no other user can change them');
}

/**
 * Looks at a file or folder and at the folders above it, beyond which no other user gets in. A group that is this process's own
 * does not count: on many systems it is the user's alone, and may write everything.
 * @returns how another user can change the file or folder at the path, with the open path in `found`; null if none can
 */
export async function wayTo(path: string): Promise<OwnershipFault | null> {
  const places = withFoldersAbove(await realpath(path)).map((at) => ({ path: at, stat: statSync(at) }));
  const open = places.slice(places.findLastIndex(isClosed) + 1).filter(isOpen);
  const [way] = strangersAmong(open);
  return way ?? null;
}

function isClosed({ path, stat }: SeenFile): boolean {
  return stat.isDirectory() && (stat.mode & ENTERED_BY_OTHERS) === 0 && ownershipFault(path, stat) === null;
}

function isOpen({ path, stat: { uid, gid, mode } }: SeenFile): boolean {
  const isAlone = gid === process.getegid?.();
  const written = (mode & STICKY) !== 0 ? 0 : isAlone ? mode & ~WRITTEN_BY_GROUP : mode;
  return ownershipFault(path, { uid, mode: written }) !== null;
}

function withFoldersAbove(path: string): string[] {
  return dirname(path) === path ? [path] : [path, ...withFoldersAbove(dirname(path))];
}
