/** The generated files of a session, `state.json` and `session.md`: always made anew from the worklog, never read back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../src/errors.js';
import { parseObject } from '../../src/json.js';
import { replaceInSession } from '../home/sessionFile.js';
import { LOG_VERSION } from '../logs/line.js';
import { combinedState } from '../observed/combined.js';
import { observeKept } from '../observed/sources.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { sessionText, type Totals } from './sessionText.js';

const STATE_FILE = 'state.json';
const TEXT_FILE = 'session.md';

export interface Generated {
  readonly state: Readonly<Record<string, unknown>>;
  /** Of `session.md`. */
  readonly text: string;
}

/** @returns the same for the same worklog and the same kept copy; what only a live transcript shows is not in it */
export async function generate(
  { claims }: Memory,
  { folder, log: { state: log, at } }: OpenSession,
): Promise<Generated> {
  const workspace = log.facts?.workspace ?? null;
  const observed = await observeKept(folder);
  const state = combinedState(log, at, observed, workspace === null ? null : claims.find(workspace));
  return { state, text: sessionText(log, state as unknown as Totals) };
}

/**
 * @returns the files that were written
 * @throws UsageError if a newer version has written `state.json`, which stays as it is
 */
export async function rebuildSession(memory: Memory, session: OpenSession): Promise<string[]> {
  const { id, folder } = session;
  const { places } = memory;
  if (versionOf(join(folder, STATE_FILE)) > LOG_VERSION)
    throw new UsageError(
      `${join(folder, STATE_FILE)} is of a newer version of Watchkeeper; update this one to write it`,
    );
  const { state, text } = await generate(memory, session);
  return [
    replaceInSession(places, id, STATE_FILE, `${JSON.stringify(state)}\n`),
    replaceInSession(places, id, TEXT_FILE, text),
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
