/** The logs of all workspaces of a memory. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { UnreachableError } from '../../src/errors.js';
import type { Places } from '../home/places.js';
import { LastRead } from '../logs/lastRead.js';
import type { Stamp } from '../logs/line.js';
import { Log } from '../logs/log.js';
import { readOnly } from '../logs/readOnly.js';
import { withLog } from '../logs/scoped.js';
import { type WorkspaceEvents, type WorkspaceState, workspaceKind } from './log.js';
import type { Workspace } from './workspace.js';

export class WorkspaceLogs {
  readonly #places: Places;
  readonly #stamp: Stamp;
  /** The logs that were read, so that another look reads only what followed: some have a line for each of thousands of sessions. */
  readonly #logs: LastRead<WorkspaceState, WorkspaceEvents>;
  /** In a process that stays, a look reads all of one, and the next look almost nothing. */
  readonly #stays: boolean;

  /** @param known the logs that were read before, by their paths, in a process that stays */
  constructor(places: Places, stamp: Stamp, known?: LastRead<WorkspaceState, WorkspaceEvents>) {
    [this.#places, this.#stamp] = [places, stamp];
    [this.#logs, this.#stays] = [known ?? new LastRead(Number.POSITIVE_INFINITY), known !== undefined];
  }

  ids(): string[] {
    const folder = dirname(this.#places.workspaceLog(''));
    return (existsSync(folder) ? readdirSync(folder) : []).map((name) => basename(name, '.jsonl'));
  }

  /** @returns null if there is no log of the workspace */
  read(id: string): WorkspaceState | null {
    const path = this.#places.workspaceLog(id);
    const log = Log.read(path, workspaceKind, this.#logs.get(path));
    if (log === null) this.#logs.delete(path);
    else this.#logs.set(path, log);
    return log?.state ?? null;
  }

  /** As {@link read}, with what lines of one kind say; the whole log, if this process has read it before. */
  readOnly(id: string, event: keyof WorkspaceEvents): WorkspaceState | null {
    const path = this.#places.workspaceLog(id);
    return this.#stays || this.#logs.get(path) !== undefined ? this.read(id) : readOnly(path, workspaceKind, event);
  }

  /** Begins the log if there is none. */
  write<Result>({ id, root, kind }: Workspace, use: (log: Log<WorkspaceState, WorkspaceEvents>) => Result): Result {
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

/** @returns undefined if the log cannot be read */
export function readable<Known>(
  look: () => Known,
  onUnreadable?: (error: UnreachableError) => void,
): Known | undefined {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    onUnreadable?.(error);
    return undefined;
  }
}
