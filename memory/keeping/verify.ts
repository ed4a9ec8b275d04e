/** Whether the record of a session is whole: in one place, readable, with its documents, and without a claim that it must not have. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../../src/counted.js';
import { describeError } from '../../src/errors.js';
import { withOwnFileSync } from '../../src/files/ownFile.js';
import { readAt } from '../../src/files/readAt.js';
import { damageOf, isDamaged } from '../condition/damage.js';
import type { LogCounts } from '../logs/reader.js';
import { leftBehind, retiredFiles } from '../mirror/retire.js';
import { digestAt } from '../mirror/texts.js';
import { type Delegating, settleChild } from '../sessions/delegation.js';
import { uncopied } from '../sessions/documentCopies.js';
import { mayHold } from '../sessions/lifecycle.js';
import type { Memory } from '../sessions/memory.js';
import { placeOf } from '../sessions/place.js';
import type { OpenSession } from '../sessions/sessions.js';
import { documentsIn, mirrorOfArchived, takeAlong } from '../sessions/takeAlong.js';
import type { Viewer } from '../sessions/views.js';
import { releaseClaim } from './archive.js';
import { findCopy } from './copyCheck.js';

const CHUNK_BYTES = 1024 * 1024;

export interface Check {
  readonly check: 'place' | 'claim' | 'files' | 'worklog' | 'copy' | 'documents' | 'mirror';
  readonly ok: boolean;
  /** For people, in a clause. */
  readonly found: string;
}

/**
 * Finishes first what an interrupted archiving, or an interrupted beginning of a child session, has left to do.
 * @param counts of its worklog, if the caller has the time to wait for `settledCounts`
 */
export function verifySession(
  memory: Delegating,
  session: OpenSession,
  counts: Readonly<LogCounts> = session.log.counts,
): Check[] {
  settleChild(memory, session);
  if (!mayHold(session.log.state)) releaseClaim(memory, session);
  takeAlong(session, session.folder, memory.places);
  return [
    placeCheck(memory, session),
    claimCheck(memory, session),
    filesCheck(session),
    worklogCheck(counts, session.log.state.created_at !== null),
    { check: 'copy', ...findCopy(session.folder, session.log.state) },
    documentsCheck(session),
    mirrorCheck(memory, session),
  ];
}

function placeCheck({ places }: Pick<Memory, 'places'>, { id, log }: OpenSession): Check {
  const place = placeOf(id, log.state, places);
  const others = places.foldersOf(id).filter((folder) => folder !== place);
  const ok = others.length === 0;
  return { check: 'place', ok, found: ok ? `it is in ${place}` : `something was left at ${others.join(', ')}` };
}

function claimCheck(memory: Viewer, { id, log }: OpenSession): Check {
  // A claim can outlive the first line of its session. It counts for nothing once the session may hold no directory.
  const isKnown = log.state.facts !== null || mayHold(log.state);
  const workspace = isKnown ? memory.workspaceOf(log.state) : null;
  const isHolder = workspace !== null && memory.claims.claimOf(workspace, id) !== null;
  const ok = !isHolder || mayHold(log.state);
  return { check: 'claim', ok, found: isHolder ? `it holds ${workspace.root}` : 'it holds no directory' };
}

function filesCheck({ folder }: OpenSession): Check {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  const troubles = names.flatMap((path) => {
    try {
      withOwnFileSync(path, readThrough);
      return [];
    } catch (error) {
      return [`${path}: ${describeError(error)}`];
    }
  });
  const ok = troubles.length === 0;
  return { check: 'files', ok, found: ok ? `${names.length} files can be read` : troubles.join(', ') };
}

function worklogCheck(counts: Readonly<LogCounts>, isBegun: boolean): Check {
  const damage = damageOf(counts, isBegun);
  const { unreadable, newer, isEmptied, hasLostBeginning: isLost } = damage;
  if (isEmptied) return { check: 'worklog', ok: false, found: 'it is empty' };
  const newerWords = newer === 0 ? '' : `, ${newer} of a newer version`;
  const words = unreadable === 0 ? 'all readable' : `${unreadable} unreadable`;
  const found = `${counted(counts.lines, 'line')}, ${words}${newerWords}${isLost ? ', but its beginning is lost' : ''}`;
  return { check: 'worklog', ok: !isDamaged(damage), found };
}

function documentsCheck({ folder, log }: OpenSession): Check {
  const documents = documentsIn(log.state.archived?.documents ?? []);
  const missing = uncopied(folder, documents);
  const ok = missing.length === 0;
  const words = documents.length === 0 ? 'the archive took none' : `${counted(documents.length, 'document')} copied`;
  return { check: 'documents', ok, found: ok ? words : `no copy of ${missing.join(', ')}` };
}

/** Whether nothing of it is at its old places in the mirror, and what is in the archives there can be read. */
function mirrorCheck(memory: Viewer, { id, log }: OpenSession): Check {
  const check = 'mirror';
  try {
    const root = memory.workspaceOf(log.state)?.root ?? null;
    const left = mirrorOfArchived(log.state, root, memory.places);
    if (left === null) return { check, ok: true, found: 'the archive took nothing from one' };
    const { mirror, texts, documents } = left;
    const behind = leftBehind(mirror, texts, id, documents);
    const files = retiredFiles(mirror, id, documents);
    const unreadable = files.filter((path) => digestAt(path) === '');
    const ok = behind.length === 0 && unreadable.length === 0;
    const troubles = [...behind.map((path) => `${path} was left`), ...unreadable.map((path) => `${path}: unreadable`)];
    const found = ok ? `${counted(files.length, 'file')} in the archives of ${mirror.name}` : troubles.join(', ');
    return { check, ok, found };
  } catch (error) {
    return { check, ok: false, found: describeError(error) };
  }
}

function readThrough(descriptor: number): void {
  for (let at = 0; ; ) {
    const { length } = readAt(descriptor, at, CHUNK_BYTES);
    if (length === 0) return;
    at += length;
  }
}
