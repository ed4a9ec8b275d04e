/**
 * Copies the transcripts of a session, because their programs delete them after a while: a copy in the session's folder, replaced
 * whole, then a line in the worklog that says what it was made from, with digests of the files that were touched. The same
 * input gives the same bytes. A share of the copy stays as it is if its transcript shows less than was kept.
 */

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describeError, UnreachableError, UsageError } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { journalName } from '../../src/journal/path.js';
import type { JournalRecord } from '../../src/journal/record.js';
import { withoutTexts } from '../../src/journal/texts.js';
import { HOUR } from '../../src/time.js';
import { journalTrimmer } from '../../src/transcripts/draft/trimmer.js';
import { importedLine } from '../../src/transcripts/importTranscript.js';
import { worklogKind } from '../fold/rules/kind.js';
import { isUnused } from '../fold/unused.js';
import type { Worklog } from '../fold/worklog.js';
import { journalIn } from '../home/places.js';
import { Draw } from '../learnings/draw.js';
import { Learnings } from '../learnings/learnings.js';
import type { Locating } from '../look/standing.js';
import { checkCopy, readSeal } from '../observed/keptCopy.js';
import { Observed } from '../observed/observed.js';
import { recordsOf, type Share, type ShareBatch, sharesOf } from '../observed/shares.js';
import { nameFilesIn } from '../observed/sources.js';
import { storeFold } from '../observed/storedFold.js';
import { requireOwnMemory } from '../sessions/ownMemory.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { CopyFile } from './copyFile.js';
import { digestsOf } from './digests.js';
import { type FoldedCopy, keptLines } from './keptLines.js';
import { noteStanding } from './noteStanding.js';
import { rebuildSession } from './rebuild.js';

const TIME_UP = 'it took too long';
/** No activity. */
const BY_ITSELF = { by: 'watchkeeper' } as const;

export interface KeepResult {
  readonly session_id: string;
  /** `nothing`: there is no transcript, and no file was touched. */
  readonly kept: 'written' | 'unchanged' | 'nothing';
  readonly lines: number;
  readonly conversations: number;
  readonly digests: number;
}

interface Copy extends FoldedCopy {
  readonly isNew: boolean;
  readonly fold: Observed;
  /** The failures in it. */
  readonly draw: Draw;
}

/**
 * @param until when it gives up, UTC epoch milliseconds
 * @throws UnreachableError if it could not be kept; the worklog says why, if it can be written
 * @throws RefusedError for the session of a bridge
 */
export async function keepSession(memory: Locating, session: OpenSession, until: number): Promise<KeepResult> {
  requireOwnMemory(memory.places);
  try {
    const result = await keep(memory, session, until);
    noteStanding(memory, session);
    return result;
  } catch (error) {
    const failure = describeError(error);
    noteFailure(memory, session, failure);
    throw new UnreachableError(`session ${session.id} could not be kept: ${failure}`, { cause: error });
  }
}

async function keep(memory: Viewer, session: OpenSession, until: number): Promise<KeepResult> {
  const { id, log } = session;
  const complete = memory.runsOf(log.state).going.length === 0;
  const copy = await writeCopy(memory, session, until);
  // Its conversation may have been resumed in the meantime.
  const isOver = (state: Worklog) =>
    memory.runsOf(state).going.length === 0 && isUnused(state, copy?.fold ?? null, copy === null);
  // A session that continues none may have a transcript that cannot be seen from here.
  const isSeen = (state: Worklog) => (copy !== null && state.runs.length > 0) || state.facts?.continues != null;
  const end = [worklogKind.line('session_ended', { reason: 'superseded' })];
  memory.sessions.addFacts(session, (state) => (isOver(state) && isSeen(state) ? end : []), BY_ITSELF);
  const before = log.state.kept;
  const isKnown =
    before !== null &&
    before.failure === null &&
    before.complete === complete &&
    (before.copy?.digest ?? null) === (copy?.digest ?? null);
  const paths = [...log.state.files.keys(), ...changedFiles(copy)];
  const digests = isKnown ? [] : digestsOf(memory.workspaceOf(log.state), paths);
  const isNothing = copy === null && digests.length === 0;
  if (!isKnown && !isNothing) {
    memory.sessions.addFacts(session, keptLines(copy, digests, complete), BY_ITSELF);
    await rebuildSession(memory, session).catch((error: unknown) => {
      // A newer version has written it, and keeps it.
      if (!(error instanceof UsageError)) throw error;
    });
  }
  if (copy !== null) noteFailed(memory, session, copy);
  return {
    session_id: id,
    kept: isNothing ? 'nothing' : isKnown && copy?.isNew !== true ? 'unchanged' : 'written',
    lines: copy?.seal.sources.reduce((sum, { lines }) => sum + lines, 0) ?? 0,
    conversations: copy?.seal.sources.length ?? 0,
    digests: digests.length,
  };
}

function changedFiles(copy: Copy | null): string[] {
  if (copy === null) return [];
  return [...copy.fold.files].flatMap(([path, { change }]) =>
    change === 'read' || change === 'deleted' ? [] : [path],
  );
}

/**
 * @param replaced ids of conversations whose transcripts are not those that were kept
 * @returns null if there is nothing to copy
 */
async function writeCopy(
  memory: Viewer,
  session: OpenSession,
  until: number,
  replaced: readonly string[] = [],
): Promise<Copy | null> {
  const { id, log } = session;
  const folder = memory.places.findSession(id);
  if (folder === null) throw new UnreachableError('it was removed meanwhile');
  const path = journalIn(folder);
  // Read once: what is dropped here, and what is replaced below, must follow from the same answer.
  const old = readSeal(path);
  const found = sharesOf(log.state, path, memory.surroundings.variables, old);
  const shares = found.map((share) =>
    replaced.includes(share.conversation.id) && share.kept !== null
      ? { ...share, transcript: null, bytes: share.kept.bytes }
      : share,
  );
  if (shares.length === 0) return null;
  if (old === null && existsSync(path)) requireReplaceable(path, log.state, shares);
  const isWhole = old !== null && checkCopy(path).isWhole;
  if (old !== null && !isWhole && shares.some(({ transcript }) => transcript === null))
    throw new UnreachableError(`${path} is not whole, and a transcript that it was made from is gone`);
  removeRests(folder, memory.clock.now());
  const file = new CopyFile(path);
  const fold = new Observed();
  const draw = new Draw(memory.stamp.redact);
  draw.begin(id);
  try {
    for (const share of shares) {
      nameFilesIn(fold, memory.workspaceOf(log.state), share.conversation.cwd);
      for await (const batch of recordsOf(share, journalTrimmer(memory.stamp.redact))) {
        if (memory.clock.now() >= until) throw new UnreachableError(TIME_UP);
        for (const line of linesOf(batch, share, memory)) {
          file.write(line);
          fold.take(line);
          draw.take(line);
        }
      }
      const lines = file.endSource(share);
      // It is as large as before, and shows less: something else is in its place.
      if (isWhole && share.transcript !== null && lines < (share.kept?.count ?? 0)) {
        file.discard();
        return writeCopy(memory, session, until, [...replaced, share.conversation.id]);
      }
    }
    const made = file.seal();
    const isNew = !isWhole || JSON.stringify(old) !== JSON.stringify(made.seal);
    failpoint('keep.copy.before');
    if (isNew) file.putInPlace();
    else file.discard();
    failpoint('keep.copy.after');
    storeFold(memory.places, { id, folder, log: log.state, workspace: memory.workspaceOf(log.state) }, made.seal, fold);
    return { ...made, isNew, fold, draw };
  } catch (error) {
    file.discard();
    throw error;
  }
}

/** @throws UnreachableError if the file, which has no seal, is of another origin, or may be all that is left of a transcript */
function requireReplaceable(path: string, { kept, conversations }: Worklog, shares: readonly Share[]): void {
  if (kept?.copy == null) throw new UnreachableError(`${path} is no copy of transcripts; move it away`);
  if (shares.length < conversations.length)
    throw new UnreachableError(
      `${path} is not whole, and a transcript that it may have been made from is gone; move it away`,
    );
}

function linesOf({ records, format }: ShareBatch, { transcript }: Share, { stamp, settings }: Viewer): JournalRecord[] {
  const name = journalName(transcript?.path ?? '');
  return records.flatMap((record) => {
    const line = format === 'copy' ? record : importedLine(record, format, name, stamp.redact);
    if (line === null) return [];
    if (settings.texts) return [line];
    // The answer of a session's end is there for a bridge that has to send it again.
    const { answer: _, ...rest } = withoutTexts(line);
    return [rest];
  });
}

/** Removes half-written copies of killed processes. A living process needs minutes for one, so older ones go. */
function removeRests(folder: string, now: number): void {
  const begin = `.${basename(journalIn(folder))}.`;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(begin)) continue;
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && now - stat.mtimeMs > HOUR) rmSync(path, { force: true });
  }
}

/** Agents that begin later hear how many failures come back. It is worth less than the copy, which is there. */
function noteFailed(memory: Viewer, { id, log }: OpenSession, { draw }: Copy): void {
  const workspace = memory.workspaceOf(log.state);
  if (workspace === null || draw.failures.size === 0) return;
  try {
    new Learnings(memory).noteFailures(id, workspace, [...draw.failures.keys()]);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
  }
}

/** On a full disk it cannot be noted either; then the check of the session finds that nothing was kept. */
function noteFailure(memory: Viewer, session: OpenSession, failure: string): void {
  try {
    if (session.log.state.kept?.failure !== failure)
      memory.sessions.addFacts(session, [worklogKind.line('kept', { failure })], BY_ITSELF);
  } catch {
    // The caller's error says more.
  }
}
