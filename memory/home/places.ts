/**
 * Where session memory is kept. A memory is a folder of sessions; the home of a user is one, with the logs that several sessions
 * share beside it. The logs folder of a bridge is the memory of its sessions.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describeError, UnreachableError } from '../../src/errors.js';
import { makePrivateFolderSync } from '../../src/files/privateFiles.js';

const WORKLOG = 'worklog.jsonl';
const JOURNAL = 'tool_use.jsonl';
const YEAR = /^\d{4}$/;

/** The variables that name the home; missing ones are undefined. */
export interface HomeVariables {
  readonly WATCHKEEPER_HOME?: string | undefined;
  readonly XDG_STATE_HOME?: string | undefined;
  readonly HOME?: string | undefined;
}

/** @returns the user's home of memory: `WATCHKEEPER_HOME`, else below `XDG_STATE_HOME`, else below `~/.local/state` */
export function homeFolder({ WATCHKEEPER_HOME, XDG_STATE_HOME, HOME }: HomeVariables): string {
  if (WATCHKEEPER_HOME) return WATCHKEEPER_HOME;
  if (XDG_STATE_HOME) return join(XDG_STATE_HOME, 'watchkeeper');
  return join(HOME ?? '/', '.local', 'state', 'watchkeeper');
}

export class Places {
  /** The folder that holds everything. */
  readonly root: string;

  /** @param root a home, or the logs folder of a bridge */
  constructor(root: string) {
    this.root = root;
  }

  /**
   * Creates the folder if it is missing.
   * @throws UnreachableError if it belongs to another user, or cannot be created
   */
  prepare(): void {
    try {
      makePrivateFolderSync(join(this.root, 'sessions'));
    } catch (cause) {
      throw new UnreachableError(
        `${this.root} cannot be used as the home of session memory: ${String(cause)}; set WATCHKEEPER_HOME to a folder of yours`,
        { cause },
      );
    }
    this.requireOwn();
  }

  /** @throws UnreachableError if the folder belongs to another user, also for root: it would leave files that the owner cannot change */
  requireOwn(): void {
    const owner = ownerOf(this.root);
    const user = process.getuid?.();
    if (owner === null || user === undefined || owner === user) return;
    throw new UnreachableError(
      `${this.root} belongs to another user (uid ${owner}, you are ${user}); set WATCHKEEPER_HOME to a folder of yours`,
    );
  }

  sessionFolder(sessionId: string): string {
    return join(this.root, 'sessions', sessionId);
  }

  /** @returns the session's folder, wherever it is now: among the sessions, or in the archive; null if there is none */
  findSession(sessionId: string): string | null {
    return this.foldersOf(sessionId)[0] ?? null;
  }

  /** @returns every folder with this id. There is one, unless somebody has made another by hand */
  foldersOf(sessionId: string): string[] {
    const among = this.sessionFolder(sessionId);
    const isAmong = existsSync(among);
    const archived = this.#years()
      .map((year) => join(year, sessionId))
      .filter((place) => existsSync(place));
    // One that left the archive between the two looks is among the sessions now.
    return isAmong || (archived.length === 0 && existsSync(among)) ? [among, ...archived] : archived;
  }

  archived(year: string, sessionId: string): string {
    return join(this.root, 'archive', year, sessionId);
  }

  /** @returns the folders of all sessions that are not archived, in no order */
  sessionFolders(): string[] {
    return foldersIn(join(this.root, 'sessions'));
  }

  archivedFolders(): string[] {
    return this.#years().flatMap(foldersIn);
  }

  workspaceLog(workspace: string): string {
    return join(this.root, 'workspaces', `${workspace}.jsonl`);
  }

  /** Of the archive. */
  #years(): string[] {
    return foldersIn(join(this.root, 'archive')).filter((folder) => YEAR.test(basename(folder)));
  }
}

export function worklogIn(folder: string): string {
  return join(folder, WORKLOG);
}

export function journalIn(folder: string): string {
  return join(folder, JOURNAL);
}

/** @returns the user who owns the folder, also behind a link; null if there is none */
function ownerOf(folder: string): number | null {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.uid ?? null;
  } catch (cause) {
    throw new UnreachableError(`${folder} cannot be the home of session memory: ${describeError(cause)}`, { cause });
  }
}

/** @returns the folders in a folder, links to some among them; none if it cannot be read. Other files are not ours */
function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
      .map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}
