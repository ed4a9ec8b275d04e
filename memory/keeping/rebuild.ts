/** The generated files of a session: `state.json`, `session.md`, `observed.json`, and its text in a mirror. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { journalIn } from '../home/places.js';
import { replaceInSession } from '../home/sessionFile.js';
import { readSeal } from '../observed/keptCopy.js';
import type { Observed } from '../observed/observed.js';
import { FOLD_FILE, storeFold } from '../observed/storedFold.js';
import type { OpenSession } from '../sessions/sessions.js';
import { coveredBytes, isOfNewerVersion, STATE_FILE } from '../sessions/stateFile.js';
import type { Viewer } from '../sessions/views.js';
import { generate } from './generate.js';
import { type Mirroring, refreshMirrors } from './mirror.js';

const TEXT_FILE = 'session.md';

/** A writer that finds more of a worklog beyond its `state.json` replaces that file. */
const MOST_UNCOVERED_BYTES = 256 * 1024;

/**
 * @returns the files that were written
 * @throws UsageError if a newer version has written `state.json` or to the worklog; then nothing is written
 */
export async function rebuildSession(memory: Viewer, session: OpenSession): Promise<string[]> {
  const newer = newerFile(session);
  if (newer !== null)
    throw new UsageError(
      `a newer version of Watchkeeper has written ${newer}; update this one to write what follows from it`,
    );
  const { state, text, fold } = await generate(memory, session);
  const { places } = memory;
  storeAnew(memory, session, fold);
  return [
    replaceInSession(places, session.id, STATE_FILE, `${JSON.stringify(state)}\n`),
    replaceInSession(places, session.id, TEXT_FILE, text),
  ];
}

function storeAnew(memory: Viewer, { id, folder, log: { state: log } }: OpenSession, fold: Observed | null): void {
  const seal = readSeal(journalIn(folder));
  if (fold === null || seal === null) return;
  rmSync(join(folder, FOLD_FILE), { force: true });
  storeFold(memory.places, { id, folder, log, workspace: memory.workspaceOf(log) }, seal, fold);
}

/**
 * Writes the generated files after a command, so that a list of sessions need not fold their logs. Only sessions that were written to, and
 * have ended or have grown by {@link MOST_UNCOVERED_BYTES}, need it. The worklog has all of it, so a failure does no harm.
 */
export async function refreshGenerated(memory: Mirroring): Promise<void> {
  for (const session of memory.opened) {
    const { id, log } = session;
    const { lifecycle, archived } = log.state;
    const rests = lifecycle === 'ended' || archived !== null;
    // Every call of a tool comes here, and few have anything to write: the file is read last.
    if (!log.hasWritten || (!rests && log.at < MOST_UNCOVERED_BYTES)) continue;
    const folder = memory.places.findSession(id);
    if (folder === null || (!rests && log.at - coveredBytes(folder) < MOST_UNCOVERED_BYTES)) continue;
    if (newerFile({ folder, log }) !== null) continue;
    try {
      await rebuildSession(memory, { ...session, folder });
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
    }
  }
  await refreshMirrors(memory);
}

/** @returns what a newer version has written; null if it has written nothing */
function newerFile({ folder, log }: Pick<OpenSession, 'folder' | 'log'>): string | null {
  if (isOfNewerVersion(folder)) return join(folder, STATE_FILE);
  return log.counts.newer > 0 ? log.path : null;
}
