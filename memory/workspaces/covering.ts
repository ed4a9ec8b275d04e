/** Which plain folders cover those below them, so that all of it is one workspace. */
import { homeOfUser } from '../../src/host/homeOfUser.js';
import { realOf } from './workspace.js';

/** Many projects that have nothing to do with each other are below them. */
const SHARED = ['/', '/tmp', '/var/tmp', '/dev/shm', '/root'];

/** The variables that name folders of the caller; missing ones are undefined. */
export interface FolderVariables {
  readonly HOME?: string | undefined;
  readonly TMPDIR?: string | undefined;
}

/**
 * A home directory, the root of the file system and folders for temporary files never cover what is below them.
 * @param folder without links
 */
export function isShared(folder: string, { HOME, TMPDIR }: FolderVariables): boolean {
  // The variable of `sudo`, or of a test, may name another home than the system does.
  const all = [...SHARED, HOME, homeOfUser(), TMPDIR];
  return all.some((path) => path !== undefined && path !== '' && realOf(path) === folder);
}
