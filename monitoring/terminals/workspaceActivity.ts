/**
 * Changes in a session's directory while its agent cannot be seen: files that were created, modified or deleted. Any such change
 * shows that work continues there.
 */
import { type WorklogLine, worklogKind } from '../../memory/fold/rules/kind.js';
import type { Memory } from '../../memory/sessions/memory.js';
import { type SinceScan, sinceScan } from '../../memory/show/scan.js';
import type { Changed } from '../../memory/workspaces/changes.js';

/** Files named of each kind; the others are counted. */
const MOST_NAMED = 20;

/** `unknown`: there are too many files to know. */
export type Activity = 'changed' | 'unchanged' | 'unknown';

export class WorkspaceActivity {
  readonly #memory: Memory;
  readonly #sessionId: string;
  #before: SinceScan['scan'] | null = null;

  constructor(memory: Memory, sessionId: string) {
    this.#memory = memory;
    this.#sessionId = sessionId;
  }

  /**
   * Compares the directory with how it was at the last call, and writes the changes into the worklog.
   * @returns `unchanged` at the first call, too
   * @throws UnreachableError if the worklog cannot be read or written
   */
  look(): Activity {
    const session = this.#memory.sessions.open(this.#sessionId);
    if (session === null) return 'unchanged';
    try {
      const { scan, changes, complete } = sinceScan(this.#memory, session, this.#before);
      this.#before = scan;
      if (changes === null) return scan.complete ? 'unchanged' : 'unknown';
      const { created, modified, deleted } = changes;
      if (created.count + modified.count + deleted.count === 0) return complete ? 'unchanged' : 'unknown';
      const line: WorklogLine = worklogKind.line('fs_activity', {
        created: named(created),
        modified: named(modified),
        deleted: named(deleted),
        counts: { created: created.count, modified: modified.count, deleted: deleted.count },
      });
      session.log.write(() => [line], { ...this.#memory.stamp, origin: 'watchkeeper' }, { isFact: true });
      return 'changed';
    } finally {
      session.log.close();
    }
  }
}

function named({ paths }: Changed): readonly string[] {
  return paths.slice(0, MOST_NAMED);
}
