/** The generated files of a session, `state.json` and `session.md`: always made anew from the worklog, never read back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../src/errors.js';
import { parseObject } from '../../src/json.js';
import { stateOf } from '../fold/state.js';
import { replaceInSession } from '../home/sessionFile.js';
import { LOG_VERSION } from '../logs/line.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { sessionText } from './sessionText.js';

const STATE_FILE = 'state.json';
const TEXT_FILE = 'session.md';

/** @returns the text of `state.json`: the same for the same worklog */
export function stateText({ log }: OpenSession): string {
  return `${JSON.stringify(stateOf(log.state, log.at))}\n`;
}

/**
 * @returns the files that were written
 * @throws UsageError if a newer version has written `state.json`, which stays as it is
 */
export function rebuildSession({ places }: Memory, session: OpenSession): string[] {
  const { id, folder, log } = session;
  if (versionOf(join(folder, STATE_FILE)) > LOG_VERSION)
    throw new UsageError(
      `${join(folder, STATE_FILE)} is of a newer version of Watchkeeper; update this one to write it`,
    );
  return [
    replaceInSession(places, id, STATE_FILE, stateText(session)),
    replaceInSession(places, id, TEXT_FILE, sessionText(log.state)),
  ];
}

/** @returns 0 for a file that is missing or damaged */
function versionOf(path: string): number {
  try {
    const version = parseObject<{ v: unknown }>(readFileSync(path, 'utf8'))?.v;
    return typeof version === 'number' ? version : 0;
  } catch {
    return 0;
  }
}
