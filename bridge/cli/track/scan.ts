import { replaceInSession } from '../../../memory/home/sessionFile.js';
import { requireDirectory } from '../../../memory/show/directory.js';
import { changeLines, SCAN_FILE, sinceScan } from '../../../memory/show/scan.js';
import { MOST_ENTRIES } from '../../../memory/workspaces/changes.js';
import { isoTime } from '../../../src/time.js';
import { word } from '../../command/word.js';

export const scan = word({
  usage: 'scan',
  summary: 'what changed in the directory since the last scan; that is no activity',
  options: {},
  words: 0,
  run({ memory, values, print }) {
    const session = memory.which(values.session ?? null);
    requireDirectory(memory, session.log.state);
    const { since, changes, complete, scan: after } = sinceScan(memory, session);
    replaceInSession(memory.places, session.id, SCAN_FILE, `${JSON.stringify(after)}\n`);
    const entries = Object.keys(after.entries).length;
    const rest = after.complete
      ? ''
      : `; there are more than ${MOST_ENTRIES} files or very long names, and the rest is unknown`;
    if (since === null || changes === null) {
      const said = { since: null, entries, complete: after.complete };
      print(`first scan: ${entries} file${entries === 1 ? '' : 's'}${rest}`, said);
      return 0;
    }
    const lines = changeLines(changes);
    const last = isoTime(since);
    print([`since ${last}: ${lines.length === 0 ? 'nothing has changed' : 'changes'}${rest}`, ...lines], {
      since: last,
      entries,
      complete,
      ...changes,
    });
    return 0;
  },
});
