/** Troubles that keep everything from being recorded, although the hooks start and the commands are there. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, WatchkeeperError } from '../../src/errors.js';
import { requireOwnEntry, requireOwnFolder } from '../../src/files/ownFile.js';
import { nearestExisting, probeFolder } from '../../src/files/probe.js';
import { isFull } from '../../src/files/storageFault.js';
import { redactShapes } from '../../src/log/redact.js';
import type { Places } from './places.js';
import { readMemorySettings } from './settings.js';

/** A recording writes in each of them, and in the home. */
const WRITTEN = ['sessions', 'workspaces', 'bindings'];
const CORRECT = 'correct that; until then no session of this user can be recorded';

export interface HomeTrouble {
  /** A sentence: what is amiss. */
  readonly found: string;
  /** A sentence: what to do. */
  readonly remedy: string;
}

/**
 * @param mayWrite whether files may be written and removed in a home that is there: nothing else shows a full disk
 * @returns what keeps the home from taking files; null if nothing does
 */
export async function homeTrouble(places: Places, mayWrite: boolean): Promise<HomeTrouble | null> {
  const written = WRITTEN.map((name) => join(places.root, name));
  try {
    places.requireOwn();
    written.forEach(requireOwnEntry);
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    return { found: error.message, remedy: CORRECT };
  }
  const there = await nearestExisting(places.root);
  for (const folder of there === places.root ? [there, ...written] : [there]) {
    try {
      await access(folder, constants.W_OK | constants.X_OK);
      if (mayWrite && there === places.root) await probeFolder(folder);
      if (folder !== there) requireOwnFolder(folder);
    } catch (error) {
      // The first recording makes it.
      if (errorCode(error) === 'ENOENT') continue;
      return troubleOf(folder, error);
    }
  }
  return null;
}

/** @returns why the settings cannot be used, in one line; null if they can, or there are none */
export function settingsTrouble({ root }: Places): HomeTrouble | null {
  try {
    readMemorySettings(root, redactShapes);
    return null;
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    const [head, ...faults] = error.message.split(/\n *- /);
    return { found: faults.length === 0 ? error.message : `${head} ${faults.join(', and ')}`, remedy: CORRECT };
  }
}

/** @returns everything that keeps sessions from being recorded */
export async function recordingTroubles(places: Places): Promise<HomeTrouble[]> {
  return [await homeTrouble(places, true), settingsTrouble(places)].flatMap((trouble) => trouble ?? []);
}

function troubleOf(folder: string, error: unknown): HomeTrouble {
  if (error instanceof WatchkeeperError) return { found: error.message, remedy: CORRECT };
  const code = errorCode(error);
  const [why, remedy] = isFull(error)
    ? ['the disk takes no more, ', 'make room on the disk']
    : code === 'EROFS'
      ? ['its file system is read-only, ', 'mount it for writing, or set WATCHKEEPER_HOME to a folder that is writable']
      : ['', 'make it writable for this user, or set WATCHKEEPER_HOME to a folder that is'];
  return { found: `${folder} cannot be written (${why}${code}): no session of this user can be recorded`, remedy };
}
