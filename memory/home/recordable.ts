/** What keeps everything from being recorded, although the hooks start and the commands are there. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../src/errno.js';
import { WatchkeeperError } from '../../src/errors.js';
import { nearestExisting, probeFolder } from '../../src/files/probe.js';
import { isFull } from '../../src/files/storageFault.js';
import type { Places } from './places.js';

/** In each of them a recording writes. */
const WRITTEN = ['.', 'sessions', 'workspaces', 'bindings'];

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
  try {
    places.requireOwn();
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    return { found: error.message, remedy: 'correct that; until then no session of this user can be recorded' };
  }
  const there = await nearestExisting(places.root);
  const written = there === places.root ? WRITTEN.map((name) => join(there, name)) : [there];
  for (const folder of written) {
    try {
      await access(folder, constants.W_OK | constants.X_OK);
      if (mayWrite && there === places.root) await probeFolder(folder);
    } catch (error) {
      // The first recording makes it.
      if (errorCode(error) === 'ENOENT') continue;
      return troubleOf(folder, error);
    }
  }
  return null;
}

function troubleOf(folder: string, error: unknown): HomeTrouble {
  const code = errorCode(error);
  const [why, remedy] = isFull(error)
    ? ['the disk takes no more, ', 'make room on the disk']
    : code === 'EROFS'
      ? ['its file system is read-only, ', 'mount it for writing, or set WATCHKEEPER_HOME to a folder that is writable']
      : ['', 'make it writable for this user, or set WATCHKEEPER_HOME to a folder that is'];
  return { found: `${folder} cannot be written (${why}${code}): no session of this user can be recorded`, remedy };
}
