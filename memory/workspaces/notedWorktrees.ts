/** Notes on worktrees that have had sessions, so that one whose folder is gone belongs to its repository all the same. */
import type { UnreachableError } from '../../src/errors.js';
import type { Stamp } from '../logs/line.js';
import { placeLines } from './log.js';
import { readable, type WorkspaceLogs } from './logs.js';
import { placeOf, type WorkspacePlace } from './place.js';
import type { Workspace } from './workspace.js';

export class NotedWorktrees {
  readonly #logs: WorkspaceLogs;
  readonly #stamp: Stamp;

  constructor(logs: WorkspaceLogs, stamp: Stamp) {
    [this.#logs, this.#stamp] = [logs, { ...stamp, origin: 'watchkeeper' }];
  }

  /** Notes the branch and the commit of a worktree, so that it can be brought back. Does nothing if its folder is gone. */
  note(workspace: Workspace): void {
    const place = placeOf(workspace);
    if (place === null) return;
    const sameOf = (known: WorkspacePlace | null) => (known?.head === place.head ? known : null);
    this.#logs.write(workspace, (log) => log.write((state) => placeLines(sameOf(state.place), place), this.#stamp));
  }

  /** @returns the note on a worktree, which may be gone. Null if there is none */
  find({ id }: Pick<Workspace, 'id'>): WorkspacePlace | null {
    return this.#logs.readOnly(id, 'place')?.place ?? null;
  }

  /**
   * @param repository its id
   * @param onUnreadable is called for each log that cannot be read
   * @returns the ids of the worktrees of a repository, also of removed ones
   */
  ofRepository(repository: string, onUnreadable: (error: UnreachableError) => void): string[] {
    const isOf = (id: string) => this.find({ id })?.repository === repository;
    return this.#logs.ids().filter((id) => readable(() => isOf(id), onUnreadable));
  }
}
