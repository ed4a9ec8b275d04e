/** The file that leads the plugin's launcher to the program: two lines in the home of session memory. */
import { accessSync, constants, rmSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Places } from '../../memory/home/places.js';
import { describeError, errorCode, UnreachableError } from '../../src/errors.js';
import { replaceInFolderSync } from '../../src/files/durableFile.js';
import { describeFileTrouble, readPlainFileSync } from '../../src/files/plainFile.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import { buildOf, isCheckout } from '../../src/host/program.js';

/** Below a build. */
const HOOK_PROGRAM = 'bridge/hook/main.cjs';
const LONGEST_FILE_BYTES = 64 * 1024;
const WRITABLE_BY_OTHERS = 0o022;
export const REPEAT = 'run `watchkeeper plugin install` of the installation that you use';

/** A fault, and its remedy. */
export interface Trouble {
  readonly found: string;
  readonly remedy: string;
  /** It belongs to every installation, and only a person can do it. */
  readonly isNext?: true;
}

export interface Installation {
  /** The folder of the package. */
  readonly root: string;
  /** The program that starts it; if it is gone, the launcher takes the `node` of PATH. */
  readonly node: string;
}

export interface InstallationLook {
  readonly file: string;
  /** Null if there is none, or it cannot be read. */
  readonly installation: Installation | null;
  /** Everything for which the launcher does nothing, but for the Node that it finds. */
  readonly trouble: readonly Trouble[];
}

/**
 * Creates the home if it is missing, and writes the file durably.
 * @throws UnreachableError if one of them cannot be written
 */
export function writeInstallation(places: Places, { root, node }: Installation): void {
  places.prepare();
  const file = places.installation;
  try {
    replaceInFolderSync(file, `${root}\n${node}\n`);
  } catch (cause) {
    throw new UnreachableError(`${file}: ${describeStorageFault(cause)}`, { cause });
  }
}

/**
 * @returns whether there was one
 * @throws UnreachableError if it cannot be removed
 */
export function removeInstallation(places: Places): boolean {
  const file = places.installation;
  try {
    rmSync(file);
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(cause))) return false;
    throw new UnreachableError(`${file} cannot be removed: ${describeError(cause)}`, { cause });
  }
  return true;
}

/** Looks with the eyes of the launcher, plugin/installation.sh. */
export function lookAtInstallation(places: Places): InstallationLook {
  const file = places.installation;
  const found = statOf(file);
  if (found === null) return { file, installation: null, trouble: [] };
  const foreign = [places.root, file].flatMap((path) => ownershipTrouble(path));
  try {
    const [root = '', node = ''] = readPlainFileSync(file, LONGEST_FILE_BYTES).split('\n');
    const trouble = [...foreign, ...rootTrouble(file, root)];
    return { file, installation: { root, node }, trouble };
  } catch (error) {
    const unreadable = {
      found: `${file} cannot be read: ${describeFileTrouble(error)}`,
      remedy: `remove it, then ${REPEAT}`,
    };
    return { file, installation: null, trouble: [...foreign, unreadable] };
  }
}

function ownershipTrouble(path: string): Trouble[] {
  const stat = statOf(path);
  const user = process.geteuid?.();
  if (stat === null) return [];
  if (user !== undefined && stat.uid !== user)
    return [
      { found: `${path} belongs to another user, so the hooks do nothing`, remedy: `make it yours, then ${REPEAT}` },
    ];
  if ((stat.mode & WRITABLE_BY_OTHERS) === 0) return [];
  return [
    { found: `${path} can be written by other users, so the hooks do nothing`, remedy: `run: chmod go-w '${path}'` },
  ];
}

function rootTrouble(file: string, root: string): Trouble[] {
  if (!isAbsolute(root)) return [{ found: `${file} names no installation`, remedy: REPEAT }];
  const program = join(buildOf(root, HOOK_PROGRAM), HOOK_PROGRAM);
  try {
    accessSync(program, constants.R_OK);
    return [];
  } catch {
    const isGone = statOf(root) === null;
    const why = isGone ? 'it has moved, or was removed' : 'it is not built, incomplete, or too old';
    const repair = isCheckout(root) ? 'run `npm ci` there' : 'install the package again';
    return [
      {
        found: `${root}, the installation that the hooks start, has no hook program: ${why}`,
        remedy: isGone ? REPEAT : `${repair}, or ${REPEAT}`,
      },
    ];
  }
}

/** @returns null if there is nothing, or it may not be seen */
function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
