/** Files created, modified or deleted in a session's directory, while its agent cannot be seen: work continues there. */
import { worklogKind } from '../../memory/fold/rules/kind.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import type { Viewer } from '../../memory/sessions/views.js';
import type { Changed } from '../../memory/workspaces/changes.js';
import { type SinceScan, sinceScan } from '../../memory/workspaces/scan.js';

/** Files named of each kind; the others are counted. */
const MOST_NAMED = 20;

/** `unknown`: there are too many files to know. */
export type Activity = 'changed' | 'unchanged' | 'unknown';

export class WorkspaceActivity {
  readonly #memory: Viewer;
  readonly #sessionId: string;
  #before: SinceScan['scan'] | null = null;

  constructor(memory: Viewer, sessionId: string) {
    this.#memory = memory;
    this.#sessionId = sessionId;
  }

  /** Writes changes since the last call into the worklog; none at the first. @throws UnreachableError for the worklog */
  look(): Activity {
    return this.#memory.sessions.withSession(this.#sessionId, (session) => this.#compare(session)) ?? 'unchanged';
  }

  #compare(session: OpenSession): Activity {
    const { root } = this.#memory.workspaceOf(session.log.state) ?? this.#memory.workspace;
    const { scan, changes, complete } = sinceScan(this.#memory, root, this.#before);
    this.#before = scan;
    if (changes === null) return scan.complete ? 'unchanged' : 'unknown';
    const { created, modified, deleted } = changes;
    if (created.count + modified.count + deleted.count === 0) return complete ? 'unchanged' : 'unknown';
    const line = worklogKind.line('fs_activity', {
      created: named(created),
      modified: named(modified),
      deleted: named(deleted),
      counts: { created: created.count, modified: modified.count, deleted: deleted.count },
    });
    this.#memory.sessions.addFacts(session, [line], { by: 'watchkeeper' });
    return 'changed';
  }
}

function named({ paths }: Changed): readonly string[] {
  return paths.slice(0, MOST_NAMED);
}
