import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Git } from '../../../memory/git/git.js';
import { replaceInSession } from '../../../memory/home/sessionFile.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import {
  type Changed,
  changesBetween,
  MOST_ENTRIES,
  readScan,
  type Scan,
  scanWorkspace,
} from '../../../memory/workspaces/changes.js';
import { errorCode } from '../../../src/errno.js';
import { describeError, UnreachableError, UsageError } from '../../../src/errors.js';
import { oneLine } from '../../../src/log/visibleText.js';
import { isoTime } from '../../../src/time.js';
import { word } from '../../command/word.js';

const SCAN_FILE = 'scan.json';

export const scan = word({
  usage: 'scan',
  summary: 'what changed in the directory since the last scan; that is no activity',
  options: {},
  words: 0,
  run({ memory, values, print }) {
    const session = memory.which(values.session ?? null);
    // Of the session, wherever the caller is: its scans are compared with each other.
    const { workspace } = session.log.state.facts ?? {};
    const { root } = (workspace ? memory.claims.find(workspace) : null) ?? memory.workspace;
    const listed = new Git(root, memory.surroundings.variables).files();
    const before = lastScan(session);
    const after = scanWorkspace(root, listed, memory.stamp.redact, memory.clock.now());
    replaceInSession(memory.places, session.id, SCAN_FILE, `${JSON.stringify(after)}\n`);
    const entries = Object.keys(after.entries).length;
    const rest = after.complete
      ? ''
      : `; there are more than ${MOST_ENTRIES} files or very long names, and the rest is unknown`;
    if (before === null) {
      print(`first scan: ${entries} file${entries === 1 ? '' : 's'}${rest}`, {
        since: null,
        entries,
        complete: after.complete,
      });
      return 0;
    }
    const exists = (path: string) => lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
    const changes = changesBetween(before, after, exists);
    const { created, modified, deleted } = changes;
    const lines = [...linesOf('created', created), ...linesOf('modified', modified), ...linesOf('deleted', deleted)];
    const since = isoTime(before.at);
    print([`since ${since}: ${lines.length === 0 ? 'nothing has changed' : 'changes'}${rest}`, ...lines].join('\n'), {
      since,
      entries,
      complete: before.complete && after.complete,
      ...changes,
    });
    return 0;
  },
});

/** @returns null if there is none, or it is damaged: it is made anew */
function lastScan({ folder }: OpenSession): Scan | null {
  const path = join(folder, SCAN_FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw new UnreachableError(`${path}: ${describeError(error)}`, { cause: error });
  }
  const found = readScan(text);
  if (found === 'newer') throw new UsageError(`${path} is of a newer version of Watchkeeper; update this one to scan`);
  return found;
}

function linesOf(what: string, { count, paths }: Changed): string[] {
  const more = count - paths.length;
  return [...paths.map((path) => `  ${what}  ${oneLine(path)}`), ...(more > 0 ? [`  … and ${more} more ${what}`] : [])];
}
