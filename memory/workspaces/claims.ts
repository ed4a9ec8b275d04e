/** Which session holds a workspace. The workspace's log decides; at most one session holds it at a time. */
import { existsSync } from 'node:fs';
import { UnreachableError } from '../../src/errors.js';
import type { Places } from '../home/places.js';
import type { Refusal } from '../logs/kind.js';
import type { LastRead } from '../logs/lastRead.js';
import type { Stamp } from '../logs/line.js';
import type { Priority } from '../words.js';
import { type FolderVariables, isShared } from './covering.js';
import {
  type LeftSession,
  placeLines,
  reportsOf,
  type WorkspaceEvents,
  type WorkspaceNote,
  type WorkspaceState,
  workspaceKind,
} from './log.js';
import { readable, WorkspaceLogs } from './logs.js';
import { NotedWorktrees } from './notedWorktrees.js';
import { placeOf } from './place.js';
import { realOf, type Workspace, workspaceOf } from './workspace.js';

/** Each look releases a claim that was left behind; in the meantime another session may claim, end and be killed. */
const MOST_LOOKS = 16;

/** Whether a session may still hold a workspace: it exists, is not in the archive, and has not ended. */
export type MayHold = (sessionId: string) => boolean;

export class Claims {
  readonly #places: Places;
  readonly #stamp: Stamp;
  readonly #mayHold: MayHold;
  readonly #logs: WorkspaceLogs;
  readonly worktrees: NotedWorktrees;

  /** @param known the logs that were read before, by their paths, in a process that stays */
  constructor(places: Places, stamp: Stamp, mayHold: MayHold, known?: LastRead<WorkspaceState, WorkspaceEvents>) {
    [this.#places, this.#stamp, this.#mayHold] = [places, stamp, mayHold];
    this.#logs = new WorkspaceLogs(places, stamp, known);
    this.worktrees = new NotedWorktrees(this.#logs, stamp);
  }

  /** @returns a workspace that has had a session. Null if its log is not there */
  find(id: string): Workspace | null {
    const state = this.#logs.readOnly(id, 'workspace');
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
    const id = this.#logs.ids().find((each) => readable(() => this.#logs.read(each)?.sessions.has(sessionId)));
    return id === undefined ? null : this.find(id);
  }

  /** @returns the workspace's log as it is now. Null if it has had no session */
  read({ id }: Workspace): WorkspaceState | null {
    const state = this.#logs.read(id);
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
    return [...(this.#logs.readOnly(id, 'note')?.notes ?? [])];
  }

  /**
   * @returns the session that holds the workspace. The claim of a session that has ended is released first: the process that
   *   ended it was killed between the two logs
   */
  holder(workspace: Workspace): string | null {
    for (let look = 0; look < MOST_LOOKS; look += 1) {
      const holder = this.#logs.read(workspace.id)?.holder ?? null;
      if (holder === null || this.#mayHold(holder.session_id)) return holder?.session_id ?? null;
      this.release(workspace, holder.claim);
    }
    return this.#logs.read(workspace.id)?.holder?.session_id ?? null;
  }

  /** The agent of the session is given the reports of the workspace. Nobody is given them again. */
  takeReports(workspace: Workspace, sessionId: string): readonly string[] {
    const reports = this.read(workspace)?.reports ?? [];
    if (reports.length === 0) return reports;
    const line = workspaceKind.line('session', { session_id: sessionId });
    this.#logs.write(workspace, (log) => log.write(() => [line], this.#stamp));
    return reports;
  }

  /**
   * Notes a session in the workspace's log, without a claim.
   * @param how whether a command begins it here (a claim says so, too), or only its agent came here
   */
  enter(workspace: Workspace, sessionId: string, how?: 'declared' | 'came'): void {
    const by = how === undefined ? {} : { [how]: true };
    const line = workspaceKind.line('session', { session_id: sessionId, ...by });
    const place = placeOf(workspace);
    this.#logs.write(workspace, (log) =>
      log.write(
        (state) => (state.sessions.has(sessionId) ? [] : [line, ...placeLines(state.place, place)]),
        this.#stamp,
      ),
    );
  }

  /** Keeps a note for every session of the workspace. */
  note(workspace: Workspace, text: string, priority: Priority): void {
    this.#logs.write(workspace, (log) =>
      log.write(() => [workspaceKind.line('note', { text, priority })], this.#stamp),
    );
  }

  /** @returns the folder that its owner has named for the mirror of the workspace, as it was named. Null if there is none */
  mirrorOf({ id }: Workspace): string | null {
    return this.#logs.readOnly(id, 'mirror')?.mirror ?? null;
  }

  /**
   * Names the folder of the mirror.
   * @param stateDir relative to the root. Null for none; undefined leaves it as it is, and only begins the workspace's log
   */
  setMirror(workspace: Workspace, stateDir: string | null | undefined): void {
    this.#logs.write(workspace, (log) =>
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
    this.#logs.write(workspace, (log) => log.write((state) => (isKnown(state) ? [] : [line]), stamp));
  }

  /**
   * @param only the ids of some workspaces. Null for all
   * @param onUnreadable is called for each log that cannot be read
   * @returns how sessions were left, by their id
   */
  left(only: readonly string[] | null, onUnreadable: (error: UnreachableError) => void): Map<string, LeftSession> {
    const all = new Map<string, LeftSession>();
    for (const id of only ?? this.#logs.ids()) {
      const known = readable(() => this.#logs.read(id)?.left, onUnreadable) ?? [];
      for (const [session, left] of known) all.set(session, left);
    }
    return all;
  }

  /** Notes how sessions were left. May be lost: then they are looked at again. */
  leave(workspace: Workspace, found: ReadonlyMap<string, LeftSession>): void {
    const lines = [...found].map(([session_id, left]) => workspaceKind.line('left', { session_id, ...left }));
    // They hold ids that other lines have, and numbers. There may be thousands.
    const stamp = { clock: this.#stamp.clock, redact: (text: string) => text, origin: 'watchkeeper' } as const;
    this.#logs.write(workspace, (log) => log.write(() => lines, stamp, { isFact: true, isDurable: false }));
  }

  /** @returns why the session cannot have the workspace; null if it holds it now */
  claim(workspace: Workspace, sessionId: string): Refusal | null {
    this.enter(workspace, sessionId);
    this.holder(workspace);
    const outcomes = this.#logs.write(workspace, (log) =>
      log.write(() => [workspaceKind.line('claimed', { session_id: sessionId })], this.#stamp),
    );
    return outcomes.find((refusal) => refusal !== null) ?? null;
  }

  /** @returns the session's claim on the workspace. Null if it does not hold it */
  claimOf(workspace: Workspace, sessionId: string): string | null {
    const holder = this.#logs.read(workspace.id)?.holder ?? null;
    return holder?.session_id === sessionId ? holder.claim : null;
  }

  /**
   * Ends a claim.
   * @param claim as it was when the decision was made: a session that was reopened afterwards has another one, which stays
   */
  release(workspace: Workspace, claim: string): void {
    this.#logs.write(workspace, (log) =>
      log.write(
        ({ holder }) => (holder?.claim === claim ? [workspaceKind.line('released', { claim })] : []),
        this.#stamp,
      ),
    );
  }

  /** A log that cannot be read may say so. The caller that reads it then says what is wrong with it. */
  #isDeclared(id: string): boolean {
    try {
      return this.#logs.read(id)?.declared === true;
    } catch (error) {
      if (error instanceof UnreachableError) return true;
      throw error;
    }
  }
}
