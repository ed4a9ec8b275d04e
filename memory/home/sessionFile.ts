/** Generated files of a session, written whole. Its folder may move to the archive at the same time. */
import { join } from 'node:path';
import { errorCode, UnreachableError } from '../../src/errors.js';
import { replaceInFolderSync } from '../../src/files/durableFile.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import type { Places } from './places.js';

const MOST_MOVES = 16;

/**
 * @param name of the file in the session's folder
 * @returns the path of the file
 * @throws UnreachableError if it cannot be written
 */
export function replaceInSession(places: Places, sessionId: string, name: string, text: string): string {
  for (let count = 0; ; count += 1) {
    const folder = places.findSession(sessionId);
    if (folder === null) throw new UnreachableError(`session ${sessionId} was removed meanwhile`);
    const path = join(folder, name);
    try {
      replaceInFolderSync(path, text);
      return path;
    } catch (error) {
      // Creating the folder again would leave a second one with this id.
      if (errorCode(error) === 'ENOENT' && count < MOST_MOVES && places.findSession(sessionId) !== folder) continue;
      throw new UnreachableError(`${path}: ${describeStorageFault(error)}`, { cause: error });
    }
  }
}
