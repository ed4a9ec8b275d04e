/** Which session holds a workspace. The workspace's log decides; at most one session holds it at a time. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { UnreachableError } from '../../src/errors.js';
import type { Places } from '../home/places.js';
import type { Refusal } from '../logs/kind.js';
import { LastRead } from '../logs/lastRead.js';
import type { Stamp } from '../logs/line.js';
import { Log } from '../logs/log.js';
import { readOnly } from '../logs/readOnly.js';
import { withLog } from '../logs/scoped.js';
import type { Priority } from '../words.js';
import { type FolderVariables, isShared } from './covering.js';
import {
  type LeftSession,
  reportsOf,
  type WorkspaceEvents,
  type WorkspaceNote,
  type WorkspaceState,
  workspaceKind,
} from './log.js';
import { realOf, type Workspace, workspaceOf } from './workspace.js';

/** Each look releases a claim that was left behind; in the meantime another session may claim, end and be killed. */
const MOST_LOOKS = 16;

/** Whether a session may still hold a workspace: it exists, is not in the archive, and has not ended. */
export type MayHold = (sessionId: string) => boolean;

export class Claims {
  readonly #places: Places;
  readonly #stamp: Stamp;
  readonly #mayHold: MayHold;
  /** The logs that were read, so that another look reads only what followed: some have a line for each of thousands of sessions. */
  readonly #logs: LastRead<WorkspaceState, WorkspaceEvents>;
  /** In a process that stays, a look reads all of one, and the next look almost nothing. */
  readonly #stays: boolean;

  /** @param known the logs that were read before, by their paths, in a process that stays */
  constructor(places: Places, stamp: Stamp, mayHold: MayHold, known?: LastRead<WorkspaceState, WorkspaceEvents>) {
    [this.#places, this.#stamp, this.#mayHold] = [places, stamp, mayHold];
    [this.#logs, this.#stays] = [known ?? new LastRead(Number.POSITIVE_INFINITY), known !== undefined];
  }

  /** @returns a workspace that has had a session. Null if its log is not there */
  find(id: string): Workspace | null {
    const state = this.#readOnly(id, 'workspace');
    return state === null || state.root === null ? null : { id, root: state.root, kind: state.kind };
  }

  /**
   * @param variables of the caller
   * @returns the workspace of a directory. A plain folder in which a session was declared covers those below it; one with a log of its
   *   own stays a workspace, whatever is declared above it later
   */
  workspaceOf(directory: string, variables: FolderVariables): Workspace {
    const real = realOf(directory);
    return workspaceOf(real, ({ id, root }) => {
      if (!existsSync(this.#places.workspaceLog(id))) return false;
      return root === real || (!isShared(root, variables) && this.#isDeclared(id));
    });
  }

  /** @returns the workspace of a session whose own log does not say it; null if no log that can be read names it */
  entered(sessionId: string): Workspace | null {
    const id = this.#ids().find((each) => {
      try {
        return this.#read(each)?.sessions.has(sessionId);
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error;
        return false;
      }
    });
    return id === undefined ? null : this.find(id);
  }

  /** @returns the workspace's log as it is now. Null if it has had no session */
  read({ id }: Workspace): WorkspaceState | null {
    const state = this.#read(id);
    // It does not change while the caller has it.
    return state === null
      ? null
      : {
          ...state,
          sessions: new Set(state.sessions),
          notes: [...state.notes],
          reports: reportsOf(state),
          putAway: new Map(state.putAway),
          left: new Map(state.left),
        };
  }

  /** @returns the notes for every session of the workspace. A caller that needs no more does not wait for the lines of its sessions */
  notes({ id }: Workspace): readonly WorkspaceNote[] {
    return [...(this.#readOnly(id, 'note')?.notes ?? [])];
  }

  /**
   * @returns the session that holds the workspace. The claim of a session that has ended is released first: the process that
   *   ended it was killed between the two logs
   */
  holder(workspace: Workspace): string | null {
    for (let look = 0; look < MOST_LOOKS; look += 1) {
      const holder = this.#read(workspace.id)?.holder ?? null;
      if (holder === null || this.#mayHold(holder.session_id)) return holder?.session_id ?? null;
      this.release(workspace, holder.claim);
    }
    return this.#read(workspace.id)?.holder?.session_id ?? null;
  }

  /** The agent of the session is given the reports of the workspace. Nobody is given them again. */
  takeReports(workspace: Workspace, sessionId: string): readonly string[] {
    const reports = this.read(workspace)?.reports ?? [];
    if (reports.length === 0) return reports;
    const line = workspaceKind.line('session', { session_id: sessionId });
    this.#write(workspace, (log) => log.write(() => [line], this.#stamp));
    return reports;
  }

  /**
   * Notes a session in the workspace's log, without a claim.
   * @param declared whether a command begins it here. A claim says so, too
   */
  enter(workspace: Workspace, sessionId: string, declared?: true): void {
    const line = workspaceKind.line('session', { session_id: sessionId, declared });
    this.#write(workspace, (log) => log.write(({ sessions }) => (sessions.has(sessionId) ? [] : [line]), this.#stamp));
  }

  /** Keeps a note for every session of the workspace. */
  note(workspace: Workspace, text: string, priority: Priority): void {
    this.#write(workspace, (log) => log.write(() => [workspaceKind.line('note', { text, priority })], this.#stamp));
  }

  /** @returns the folder that its owner has named for the mirror of the workspace, as it was named. Null if there is none */
  mirrorOf({ id }: Workspace): string | null {
    return this.#readOnly(id, 'mirror')?.mirror ?? null;
  }

  /**
   * Names the folder of the mirror.
   * @param stateDir relative to the root. Null for none; undefined leaves it as it is, and only begins the workspace's log
   */
  setMirror(workspace: Workspace, stateDir: string | null | undefined): void {
    this.#write(workspace, (log) =>
      log.write(
        ({ mirror }) =>
          stateDir === undefined || stateDir === mirror ? [] : [workspaceKind.line('mirror', { state_dir: stateDir })],
        this.#stamp,
      ),
    );
  }

  /**
   * Leaves a sentence on a session for the caller who begins the next one in the workspace.
   * @param isArchived whether it says that the session went into the archive by itself
   */
  leaveReport(workspace: Workspace, sessionId: string, sentence: string, isArchived = false): void {
    const line = workspaceKind.line('told', { session_id: sessionId, sentence, ...(isArchived && { archived: true }) });
    const stamp = { ...this.#stamp, origin: 'watchkeeper' } as const;
    const isKnown = (state: WorkspaceState) => reportsOf(state).includes(sentence);
    this.#write(workspace, (log) => log.write((state) => (isKnown(state) ? [] : [line]), stamp));
  }

  /**
   * @param only the ids of some workspaces. Null for all
   * @param onUnreadable is called for each log that cannot be read
   * @returns how sessions were left, by their id
   */
  left(only: readonly string[] | null, onUnreadable: (error: UnreachableError) => void): Map<string, LeftSession> {
    const all = new Map<string, LeftSession>();
    for (const id of only ?? this.#ids()) {
      try {
        for (const [session, left] of this.#read(id)?.left ?? []) all.set(session, left);
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error;
        onUnreadable(error);
      }
    }
    return all;
  }

  /** Notes how sessions were left. May be lost: then they are looked at again. */
  leave(workspace: Workspace, found: ReadonlyMap<string, LeftSession>): void {
    const lines = [...found].map(([session_id, left]) => workspaceKind.line('left', { session_id, ...left }));
    // They hold ids that other lines have, and numbers. There may be thousands.
    const stamp = { clock: this.#stamp.clock, redact: (text: string) => text, origin: 'watchkeeper' } as const;
    this.#write(workspace, (log) => log.write(() => lines, stamp, { isFact: true, isDurable: false }));
  }

  /** @returns why the session cannot have the workspace; null if it holds it now */
  claim(workspace: Workspace, sessionId: string): Refusal | null {
    this.enter(workspace, sessionId);
    this.holder(workspace);
    const outcomes = this.#write(workspace, (log) =>
      log.write(() => [workspaceKind.line('claimed', { session_id: sessionId })], this.#stamp),
    );
    return outcomes.find((refusal) => refusal !== null) ?? null;
  }

  /** @returns the session's claim on the workspace. Null if it does not hold it */
  claimOf(workspace: Workspace, sessionId: string): string | null {
    const holder = this.#read(workspace.id)?.holder ?? null;
    return holder?.session_id === sessionId ? holder.claim : null;
  }

  /**
   * Ends a claim.
   * @param claim as it was when the decision was made: a session that was reopened afterwards has another one, which stays
   */
  release(workspace: Workspace, claim: string): void {
    this.#write(workspace, (log) =>
      log.write(
        ({ holder }) => (holder?.claim === claim ? [workspaceKind.line('released', { claim })] : []),
        this.#stamp,
      ),
    );
  }

  /** A log that cannot be read may say so. The caller that reads it then says what is wrong with it. */
  #isDeclared(id: string): boolean {
    try {
      return this.#read(id)?.declared === true;
    } catch (error) {
      if (error instanceof UnreachableError) return true;
      throw error;
    }
  }

  #ids(): string[] {
    const folder = dirname(this.#places.workspaceLog(''));
    return (existsSync(folder) ? readdirSync(folder) : []).map((name) => basename(name, '.jsonl'));
  }

  #read(id: string): WorkspaceState | null {
    const path = this.#places.workspaceLog(id);
    const log = Log.read(path, workspaceKind, this.#logs.get(path));
    if (log === null) this.#logs.delete(path);
    else this.#logs.set(path, log);
    return log?.state ?? null;
  }

  /** The whole log, if this process has read it before. */
  #readOnly(id: string, event: keyof WorkspaceEvents): WorkspaceState | null {
    const path = this.#places.workspaceLog(id);
    return this.#stays || this.#logs.get(path) !== undefined ? this.#read(id) : readOnly(path, workspaceKind, event);
  }

  #write<Result>({ id, root, kind }: Workspace, use: (log: Log<WorkspaceState, WorkspaceEvents>) => Result): Result {
    const path = this.#places.workspaceLog(id);
    this.#places.make(dirname(path));
    const work = (log: Log<WorkspaceState, WorkspaceEvents>) => {
      this.#logs.set(path, log);
      // Also if its creator was killed before this line, or the line is damaged.
      log.write((state) => (state.root === null ? [workspaceKind.line('workspace', { root, kind })] : []), this.#stamp);
      return use(log);
    };
    return withLog(path, workspaceKind, work, this.#logs.get(path));
  }
}
