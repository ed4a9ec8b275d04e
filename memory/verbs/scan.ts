import { counted } from '../../src/counted.js';
import { isoTime, localTime } from '../../src/time.js';
import { replaceInSession } from '../home/sessionFile.js';
import type { Memory } from '../sessions/memory.js';
import { changeLines } from '../show/changes.js';
import { requireDirectory } from '../show/directory.js';
import { MOST_ENTRIES, type Scan } from '../workspaces/changes.js';
import { lastScan, SCAN_FILE, sinceScan } from '../workspaces/scan.js';
import { meant } from './meant.js';
import { verb } from './verb.js';

/** Said next to the changes if git did not answer. */
export const UNSEEN = 'git does not answer, so new files are not seen';

export const scan = verb({
  name: 'scan',
  summary: 'what changed in the directory since the last scan; that is no activity',
  fields: {},
  run(memory, input) {
    const session = meant(memory, input);
    const { root } = requireDirectory(memory, session.log.state);
    const { since, changes, complete, is_unanswered, ...looked } = sinceScan(memory, root, lastScan(session.folder));
    const { unseen, scan: after } = looked;
    keepScan(memory, session.id, after);
    const entries = Object.keys(after.entries).length;
    const rest = after.complete
      ? ''
      : `; there are more than ${MOST_ENTRIES} files or very long names, and the rest is unknown`;
    const unlooked = `${counted(unseen, 'file')} of the last scan cannot be looked at, so changes there are not seen`;
    const asides = [...(is_unanswered ? [UNSEEN] : []), ...(unseen > 0 ? [unlooked] : [])];
    if (since === null || changes === null) {
      const lines = `first scan: ${counted(entries, 'file')}${rest}`;
      return { lines, value: { since: null, entries, complete: after.complete } };
    }
    const lines = changeLines(changes);
    return {
      lines: [`since ${localTime(since)}: ${lines.length === 0 ? 'nothing has changed' : 'changes'}${rest}`, ...lines],
      value: { since: isoTime(since), entries, complete, ...changes },
      asides,
    };
  },
});

/** The next scan is compared with this one. */
export function keepScan({ places }: Pick<Memory, 'places'>, sessionId: string, after: Scan): void {
  replaceInSession(places, sessionId, SCAN_FILE, `${JSON.stringify(after)}\n`);
}
