/**
 * Where session memory is kept. A memory is a folder of sessions. The home of a user is one; it also has the logs that several
 * sessions share. The logs folder of a bridge is the memory of its sessions.
 */
import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import { describeError, errorCode, UnreachableError, UsageError } from '../../src/errors.js';
import { NotOwnError, ownershipFault, requireOwnFolder } from '../../src/files/ownFile.js';
import { makePrivateFolderSync } from '../../src/files/privateFiles.js';
import { isFull, MAKE_ROOM } from '../../src/files/storageFault.js';

export const WORKLOG = 'worklog.jsonl';
const JOURNAL = 'tool_use.jsonl';
const YEAR = /^\d{4}$/;

/** The variables that name the home; missing ones are undefined. */
export interface HomeVariables {
  readonly WATCHKEEPER_HOME?: string | undefined;
  readonly XDG_STATE_HOME?: string | undefined;
  readonly HOME?: string | undefined;
}

/**
 * @returns the user's home of memory: `WATCHKEEPER_HOME`, else below `XDG_STATE_HOME`, else below `~/.local/state`
 * @throws UsageError for a relative path: each directory would have a memory of its own; and if none of the variables is set
 */
export function homeFolder({ WATCHKEEPER_HOME, XDG_STATE_HOME, HOME }: HomeVariables): string {
  if (WATCHKEEPER_HOME) return absolute('WATCHKEEPER_HOME', WATCHKEEPER_HOME);
  // The specification of these variables says that a relative path is to be ignored.
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'watchkeeper');
  if (!HOME) throw new UsageError('HOME is not set, so there is no place for session memory; set WATCHKEEPER_HOME');
  return join(absolute('HOME', HOME), '.local', 'state', 'watchkeeper');
}

/** @throws UsageError if the variable's value is relative */
export function absolute(variable: string, path: string): string {
  if (isAbsolute(path)) return path;
  throw new UsageError(`${variable} is ${JSON.stringify(path)}, and must be an absolute path`);
}

export class Places {
  /** The folder that holds everything. */
  readonly root: string;
  /** With the separator behind it. */
  readonly #sessions: string;

  /** @param root a home, or the logs folder of a bridge */
  constructor(root: string) {
    this.root = root;
    this.#sessions = join(root, 'sessions', sep);
  }

  /** Ends of programs that are not recorded yet. */
  get spool(): string {
    return join(this.root, 'spool');
  }

  /** The file that leads the hooks of the plugin to the program. Without it, nothing is recorded that a person has not asked for. */
  get installation(): string {
    return join(this.root, 'installation');
  }

  /**
   * Creates the home if it is missing.
   * @throws UnreachableError if others own or may write it, or if it cannot be created
   */
  prepare(): void {
    this.requireOwn();
    this.make(join(this.root, 'sessions'));
  }

  /**
   * Creates a folder of the memory, with its missing parents.
   * @throws UnreachableError if it cannot be created, or others own or may write what is in its place
   */
  make(folder: string): void {
    try {
      makePrivateFolderSync(folder);
    } catch (cause) {
      throw unusable(this.root, describeError(cause), cause);
    }
    isOwn(folder);
  }

  /**
   * @throws UnreachableError if the home cannot be read, or as {@link requireOwnRoot}
   */
  requireOwn(): void {
    if (this.requireOwnRoot()) namesIn(this.root);
  }

  /**
   * Looked at again before each session, because a process may have had it open for long.
   * @returns false if there is none
   * @throws UnreachableError if it is something else than a folder, or if another user owns it, may write it, or has made the link
   *   that leads to it; also for root, who would leave files there that the owner cannot change
   */
  requireOwnRoot(): boolean {
    const entry = statOf(this.root, lstatSync);
    const stat = entry?.isSymbolicLink() ? statOf(this.root, statSync) : entry;
    if (entry === undefined || stat === undefined) return false;
    const user = process.geteuid?.();
    if (user !== undefined && stat.uid !== user)
      throw unusable(this.root, `it belongs to another user (uid ${stat.uid}, you are ${user})`);
    if (!stat.isDirectory()) throw unusable(this.root, 'it is not a folder');
    const fault = ownershipFault(this.root, entry) ?? ownershipFault(this.root, stat);
    if (fault === null) return true;
    throw new NotOwnError(`${this.root} cannot hold session memory: it ${fault.found}; ${fault.remedy}`);
  }

  sessionFolder(sessionId: string): string {
    return join(this.root, 'sessions', sessionId);
  }

  /** The same as {@link worklogIn} of its folder. Thousands are looked at in one go, and to join their parts takes longer than the look. */
  worklogOf(sessionId: string): string {
    return `${this.#sessions}${sessionId}${sep}${WORKLOG}`;
  }

  /**
   * @returns the session's folder, wherever it is now: among the sessions, or in the archive; null if there is none
   * @throws UnreachableError if others own or may write it, or a folder above it up to the home
   */
  findSession(sessionId: string): string | null {
    return this.foldersOf(sessionId)[0] ?? null;
  }

  /**
   * @returns every folder with this id. There is one, unless a person has made another by hand
   * @throws as {@link findSession}
   */
  foldersOf(sessionId: string): string[] {
    const among = this.sessionFolder(sessionId);
    this.requireOwnRoot();
    isOwn(dirname(among));
    const isAmong = isOwn(among);
    const archived = this.#years()
      .map((year) => join(year, sessionId))
      .filter((place) => isOwn(place));
    for (const place of archived) isOwn(dirname(place));
    // One that left the archive between the two looks is among the sessions now.
    return isAmong || (archived.length === 0 && isOwn(among)) ? [among, ...archived] : archived;
  }

  /** @returns whether something with this id is there, also if another user has made it */
  isTaken(sessionId: string): boolean {
    const places = [this.sessionFolder(sessionId), ...this.#years().map((year) => join(year, sessionId))];
    return places.some((place) => statOf(place, lstatSync) !== undefined);
  }

  archived(year: string, sessionId: string): string {
    return join(this.root, 'archive', year, sessionId);
  }

  /** @returns the folders of all sessions that are not archived, in no order */
  /** @returns the names of the folders of sessions that are not archived */
  sessionNames(): string[] {
    this.requireOwnRoot();
    const folder = join(this.root, 'sessions');
    return isOwn(folder) ? namesIn(folder) : [];
  }

  archivedFolders(): string[] {
    return this.#years().flatMap(foldersIn);
  }

  /** @returns the parents of the folders of sessions, archived or not */
  parentsOfSessions(): string[] {
    return [join(this.root, 'sessions'), ...this.#years()];
  }

  workspaceLog(workspace: string): string {
    return join(this.root, 'workspaces', `${workspace}.jsonl`);
  }

  /** The log of all learnings. */
  get learnings(): string {
    return join(this.root, 'learnings.jsonl');
  }

  handoffLog(id: string): string {
    return join(this.root, 'handoffs', `${id}.jsonl`);
  }

  /** @returns the names of the files among the handoffs, in no order */
  handoffNames(): string[] {
    this.requireOwnRoot();
    const folder = join(this.root, 'handoffs');
    return isOwn(folder) ? namesIn(folder, true) : [];
  }

  /** The folders of the archive. */
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

/** @returns false if there is nothing. @throws UnreachableError if it is no folder, or others own or may write it */
function isOwn(folder: string): boolean {
  try {
    return requireOwnFolder(folder);
  } catch (cause) {
    throw cause instanceof UnreachableError ? cause : unusable(folder, describeError(cause), cause);
  }
}

/** @returns undefined if there is nothing */
function statOf(
  folder: string,
  look: (path: string, options: { throwIfNoEntry: false }) => Stats | undefined,
): Stats | undefined {
  try {
    return look(folder, { throwIfNoEntry: false });
  } catch (cause) {
    throw unusable(folder, describeError(cause), cause);
  }
}

/**
 * @returns the folders in a folder, and links, which are refused when they are opened; none if it is missing. Other files are not ours
 * @throws UnreachableError as {@link isOwn}
 */
function foldersIn(folder: string): string[] {
  return isOwn(folder) ? namesIn(folder).map((name) => join(folder, name)) : [];
}

/** @returns the names of its folders, and of links; with `withFiles`, those of its files, too */
function namesIn(folder: string, withFiles = false): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && (withFiles || entry.isDirectory() || entry.isSymbolicLink()))
      .map(({ name }) => name);
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return [];
    throw unusable(folder, describeError(cause), cause);
  }
}

function unusable(folder: string, why: string, cause?: unknown): UnreachableError {
  const advice = isFull(cause) ? MAKE_ROOM : 'make it yours, or set WATCHKEEPER_HOME to a folder of yours';
  return new UnreachableError(`${folder} cannot hold session memory: ${why}; ${advice}`, { cause });
}
