/** The sessions of a memory: how one begins, and how it is found again. */
import { mkdirSync } from 'node:fs';
import { basename } from 'node:path';
import { errorCode, UnreachableError, UsageError } from '../../src/errors.js';
import { requireOwnEntry } from '../../src/files/ownFile.js';
import { PRIVATE_FOLDER } from '../../src/files/privateFiles.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import { isSessionId } from '../../src/ids.js';
import { type SessionLog, type WorklogFields, type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { journalIn, type Places, worklogIn } from '../home/places.js';
import type { Refusal } from '../logs/kind.js';
import type { Stamp } from '../logs/line.js';
import { Log } from '../logs/log.js';
import { closeAfter } from '../logs/scoped.js';
import type { Origin } from '../words.js';
import { endsEnded } from './ended.js';
import { explicitIdOf, isExplicitId } from './explicitId.js';
import type { KnownLogs } from './knownLogs.js';
import { moveToPlace } from './place.js';
import { requireLegal } from './trial.js';

const MOST_NUMBERS = 10_000;
const MOST_LOOKS = 8;
/** Ids of sessions that begin by themselves. */
export const IMPLICIT = 'ses_';

export interface OpenSession {
  readonly id: string;
  readonly folder: string;
  readonly log: SessionLog;
}

/** Lines, or a function that makes them of the state at the time of writing. */
export type Facts = readonly WorklogLine[] | ((state: Worklog) => readonly WorklogLine[]);

/** Fields of `session_started`. */
export type Started = Omit<WorklogFields<'session_started'>, 'session_id'>;

export class Sessions {
  readonly #places: Places;
  readonly #stamp: Stamp;
  /** Null if each look reads a log from its beginning: then one look does not change what an earlier one has found. */
  readonly #known: KnownLogs | null;
  /** The logs that were opened here, and perhaps not closed. */
  readonly #logs = new Set<SessionLog>();

  constructor(places: Places, stamp: Stamp, known: KnownLogs | null = null) {
    this.#places = places;
    this.#stamp = stamp;
    this.#known = known;
  }

  /**
   * Begins an explicit session, whose id is the day and its purpose.
   * @param more lines that belong to the beginning: the steps of its plan
   * @param wanted its id, if that is free and has the form of one; else it becomes the name of a session that has none
   * @throws RefusedError if the plan is not legal; then nothing is left of it
   */
  begin(started: Started & { readonly purpose: string }, more: readonly WorklogLine[], wanted?: string): OpenSession {
    const lines = [worklogKind.line('session_started', { session_id: 'new', ...started }), ...more];
    requireLegal(worklogKind.begin(), lines, this.#stamp);
    this.#places.prepare();
    const { redact } = this.#stamp;
    const isFree = wanted !== undefined && isExplicitId(wanted, redact) && this.#takes(wanted);
    const id = isFree ? wanted : this.#takeId(explicitIdOf(started.purpose, this.#stamp));
    const name = started.name ?? (isFree ? undefined : wanted);
    const folder = this.#places.sessionFolder(id);
    const log = Log.begin(worklogIn(folder), worklogKind);
    if (log === null) throw new UnreachableError(`${folder} was taken by another process; try again`);
    this.#remember(log);
    this.#known?.sessions.set(id, log);
    log.write(
      () => [
        worklogKind.line('session_started', { session_id: id, explicit: true, ...started, name }),
        ...more.map((line) => ({ session_id: id, ...line })),
      ],
      this.#stamp,
    );
    return { id, folder, log };
  }

  /**
   * Opens a session that begins by itself; the first process to come begins it. Its first line is as durable as the next one that
   * the caller writes.
   * @param id that was taken for it
   * @throws UnreachableError if its log cannot be opened
   */
  openImplicit(id: string, started: Started): OpenSession {
    const found = this.open(id);
    if (found !== null && !isUnbegun(found)) return found;
    this.#places.prepare();
    const folder = found?.folder ?? this.#places.sessionFolder(id);
    this.#places.make(folder);
    const log = found?.log ?? Log.begin(worklogIn(folder), worklogKind) ?? Log.open(worklogIn(folder), worklogKind);
    if (log === null) throw new UnreachableError(`${folder} was removed while it was used`);
    this.#remember(log);
    const line = worklogKind.line('session_started', { session_id: id, ...started });
    log.write(({ facts }) => (facts === null ? [line] : []), this.#stamp, { isDurable: false });
    return { id, folder, log };
  }

  /**
   * Opens a session, and first finishes its way to or from the archive, if that was interrupted.
   * @param id of a session, archived or not
   * @returns null if there is none
   * @throws UnreachableError if its log cannot be opened
   */
  open(id: string): OpenSession | null {
    return this.#inPlace(this.#opened(id, (path, known) => Log.open(path, worklogKind, known)));
  }

  /**
   * Opens a session for a piece of work, and closes it then.
   * @param id null if there is no session
   * @returns what the work returns; null if there is no such session
   * @throws as {@link open}
   */
  withSession<Result>(id: string | null, work: (session: OpenSession) => Result): Result | null {
    const session = id === null ? null : this.open(id);
    return session === null ? null : closeAfter(session.log, () => work(session));
  }

  /**
   * Writes lines that decide nothing, also to a log that a newer version has written to.
   * @param to an open session, or the id of one that is opened for it. Nothing is written if there is none
   * @param by the writer, which is the caller if missing. Lines that Watchkeeper writes by itself are no activity
   * @returns for each line why it was refused; null if it was applied
   * @throws as {@link open} and `Log.write`
   */
  addFacts(
    to: Pick<OpenSession, 'log'> | string | null,
    lines: Facts,
    { by = this.#stamp.origin, isDurable = true }: { readonly by?: Origin; readonly isDurable?: boolean } = {},
  ): (Refusal | null)[] {
    const decide = typeof lines === 'function' ? lines : () => lines;
    const add = ({ log }: Pick<OpenSession, 'log'>) =>
      log.write(decide, { ...this.#stamp, origin: by }, { isFact: true, isDurable });
    return (typeof to === 'object' && to !== null ? add(to) : this.withSession(to, add)) ?? [];
  }

  /** Like {@link open}, for a command that may only read: a log that cannot be written is refused when it is to take a line. */
  openOrRead(id: string): OpenSession | null {
    return this.#inPlace(this.#opened(id, (path, known) => Log.openOrRead(path, worklogKind, known)));
  }

  /** @returns the session as it is now, closed; null if there is none. Nothing is written, so the folder need not be writable */
  read(id: string): OpenSession | null {
    return this.#opened(id, (path, known) => Log.read(path, worklogKind, known));
  }

  /** Whether the last lines of its log show that it has ended. If they do not, it may have ended all the same. */
  endsEnded(id: string): boolean {
    return isSessionId(id) && endsEnded(this.#places.worklogOf(id), id);
  }

  /** @returns the ids of all sessions that are not archived, sorted. There may be thousands */
  ids(): string[] {
    return this.#places.sessionNames().filter(isSessionId).sort();
  }

  archivedIds(): string[] {
    return this.archivedFolders().map((folder) => basename(folder));
  }

  /** @returns the folders of all sessions that are not archived, by name */
  folders(): string[] {
    return this.ids().map((id) => this.#places.sessionFolder(id));
  }

  archivedFolders(): string[] {
    return this.#places
      .archivedFolders()
      .filter((folder) => isSessionId(basename(folder)))
      .sort();
  }

  #inPlace(session: OpenSession | null): OpenSession | null {
    return session === null ? null : { ...session, folder: moveToPlace(session, this.#places) ?? session.folder };
  }

  #opened(id: string, openLog: (path: string, known?: SessionLog) => SessionLog | null): OpenSession | null {
    if (!isSessionId(id)) return null;
    // It may move between any two of these steps, to the archive and back.
    for (let look = 0; look < MOST_LOOKS; look += 1) {
      const folder = this.#places.findSession(id);
      if (folder !== null) requireOwnEntry(journalIn(folder));
      const log = folder === null ? null : openLog(worklogIn(folder), this.#known?.sessions.get(id));
      if (folder === null || log === null) continue;
      this.#remember(log);
      this.#known?.sessions.set(id, log);
      // Every line has it, but all of them may be damaged.
      log.state.session_id ??= id;
      return { id, folder, log };
    }
    return null;
  }

  /** Closes the logs that are still open. Does nothing if none is. */
  close(): void {
    for (const log of this.#logs) log.close();
    this.#logs.clear();
  }

  #remember(log: SessionLog): void {
    for (const known of this.#logs) if (!known.isOpen) this.#logs.delete(known);
    if (log.isOpen) this.#logs.add(log);
  }

  /** Takes the first free one of `base`, `base-2`, `base-3`, …; ids in the archive are not free. */
  #takeId(base: string): string {
    for (let number = 1; number < MOST_NUMBERS; number += 1) {
      const id = number === 1 ? base : `${base}-${number}`;
      if (this.#takes(id)) return id;
    }
    throw new UsageError(`there are ${MOST_NUMBERS} sessions called ${base}; choose another purpose`);
  }

  #takes(id: string): boolean {
    if (this.#places.isTaken(id)) return false;
    const folder = this.#places.sessionFolder(id);
    try {
      mkdirSync(folder, PRIVATE_FOLDER);
      return true;
    } catch (error) {
      if (errorCode(error) === 'EEXIST') return false;
      throw new UnreachableError(`${folder}: ${describeStorageFault(error)}`, { cause: error });
    }
  }
}

/**
 * Whether the hook that began the session was killed before its first line, or the line is damaged. A hook that still runs may write
 * the line, too: the rules accept a second one. A line of a newer version may be a beginning.
 */
export function isUnbegun({ id, log }: OpenSession): boolean {
  return id.startsWith(IMPLICIT) && log.state.facts === null && log.counts.newer === 0;
}
