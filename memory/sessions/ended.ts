/**
 * Whether a session has ended, from the last lines of its worklog. Most sessions of a long list have ended, and reading each log whole
 * takes long.
 */
import { withOwnFileSync } from '../../src/files/ownFile.js';
import { readAt } from '../../src/files/readAt.js';
import { LOG_VERSION, parseLine } from '../logs/line.js';
import { END_REASONS } from '../words.js';

/** The last lines: after the end, a log takes lines about kept copies and given contexts. */
const LOOKED_AT_BYTES = 4 * 1024;

/**
 * @param path of the worklog
 * @param id of the session
 * @returns whether its last lines show that it has ended. False also if they do not show it, or cannot be read
 */
export function endsEnded(path: string, id: string): boolean {
  try {
    return withOwnFileSync(path, (descriptor, { size }) => {
      const from = Math.max(0, size - LOOKED_AT_BYTES);
      const [first = '', ...lines] = readAt(descriptor, from, LOOKED_AT_BYTES).toString('utf8').split('\n');
      return showsEnd(from === 0 ? [first, ...lines] : lines, id);
    });
  } catch {
    return false;
  }
}

/** After these, a line that says the end may have been refused: only the whole log shows that. */
const DOUBTFUL = ['session_reopened', 'session_archived', 'session_unarchived'];

/** No rule refuses such a line unless the session has ended already, or is in the archive. */
function showsEnd(lines: readonly string[], id: string): boolean {
  // Nothing follows the last line end, unless a line is torn.
  if (lines.at(-1) !== '') return false;
  for (const text of lines.slice(0, -1).reverse()) {
    const line = parseLine(text);
    if (line === null || line.v > LOG_VERSION || DOUBTFUL.includes(line.event)) return false;
    if (line.event !== 'session_ended') continue;
    const { session_id, reason, summary } = line;
    const isReason = END_REASONS.some((known) => known === reason);
    return session_id === id && isReason && (summary === undefined || typeof summary === 'string');
  }
  return false;
}
