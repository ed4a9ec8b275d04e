/** Files created, modified or deleted in a session's directory, while its agent cannot be seen: work continues there. */
import { worklogKind } from '../../memory/fold/rules/kind.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import type { Viewer } from '../../memory/sessions/views.js';
import type { Changed } from '../../memory/workspaces/changes.js';
import { type SinceScan, sinceScan } from '../../memory/workspaces/scan.js';
import { seenFile } from '../../src/files/seenFile.js';

/** Files named of each kind; the others are counted. */
const MOST_NAMED = 20;

/**
 * `unknown`: some files could not be seen, and no change among the others. There are too many, git did not answer, or the directory
 * is not there, as on a disk that was removed.
 */
export type Activity = 'changed' | 'unchanged' | 'unknown';

/** The baseline for the next look. */
interface Seen {
  readonly root: string;
  /** The disk on which it was. */
  readonly device: number;
  readonly scan: SinceScan['scan'];
}

export class WorkspaceActivity {
  readonly #memory: Viewer;
  readonly #sessionId: string;
  #before: Seen | null = null;

  constructor(memory: Viewer, sessionId: string) {
    this.#memory = memory;
    this.#sessionId = sessionId;
  }

  /** Writes changes since the last call into the worklog; none at the first. @throws UnreachableError for the worklog */
  look(): Activity {
    return this.#memory.sessions.withSession(this.#sessionId, (session) => this.#compare(session)) ?? 'unknown';
  }

  #compare(session: OpenSession): Activity {
    const { root } = this.#memory.workspaceOf(session.log.state) ?? this.#memory.workspace;
    const before = this.#before?.root === root ? this.#before : null;
    const device = deviceOf(root);
    // An unmounted disk leaves an empty directory, which is on another disk.
    if (device === null || device !== (before?.device ?? device)) return 'unknown';
    const found = sinceScan(this.#memory, root, before?.scan ?? null);
    // It may have gone during the scan.
    if (deviceOf(root) !== device) return 'unknown';
    this.#before = { root, device, scan: nextBaseline(found, before) };
    const { changes } = found;
    const isWhole = found.complete && !found.is_unanswered;
    if (changes === null) return isWhole ? 'unchanged' : 'unknown';
    const { created, modified, deleted } = changes;
    if (created.count + modified.count + deleted.count === 0) return isWhole ? 'unchanged' : 'unknown';
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

/** Without git's answer no new file was looked for: the next look has to find those that are new since the last answer. */
function nextBaseline({ scan, is_unanswered }: SinceScan, before: Seen | null): Seen['scan'] {
  if (!is_unanswered || before === null) return scan;
  const { at, complete } = before.scan;
  return { ...scan, at, complete };
}

/** @returns null if there is no directory */
function deviceOf(root: string): number | null {
  const stat = seenFile(root);
  return stat?.isDirectory() ? stat.dev : null;
}

function named({ paths }: Changed): readonly string[] {
  return paths.slice(0, MOST_NAMED);
}
