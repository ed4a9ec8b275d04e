/** Copies the documents that a session's line `session_archived` names into its folder, and moves its part of the mirror. */
import { basename, isAbsolute, resolve } from 'node:path';
import { describeError, errorCode, UnreachableError } from '../../src/errors.js';
import { describeFileTrouble } from '../../src/files/plainFile.js';
import type { SessionLog } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import type { Places } from '../home/places.js';
import { readOnly } from '../logs/readOnly.js';
import { type Mirror, mirrorAt, mirrorIn } from '../mirror/mirror.js';
import { retire } from '../mirror/retire.js';
import { MirrorTexts } from '../mirror/texts.js';
import { workspaceKind } from '../workspaces/log.js';
import { copyDocument, readDocument, uncopied } from './documentCopies.js';

const GONE = 'ENOENT';

interface Archived {
  readonly id: string;
  readonly log: Pick<SessionLog, 'state'>;
}

/**
 * Copies and moves what is not in its place yet. Any process may repeat it.
 * @param folder where the session is now
 * @returns why something was left out, each in a clause with its path; null if the folder is no longer there
 */
export function takeAlong({ id, log }: Archived, folder: string, places: Places): string[] | null {
  const all = log.state.archived?.documents ?? [];
  const root = all.length === 0 ? null : rootOf(log.state, places);
  const faults: string[] = [];
  for (const path of documentsIn(all)) {
    const found = documentFrom(path, root);
    if ('fault' in found) {
      // A plan of the mirror is no longer there once it was taken.
      if (uncopied(folder, [path]).length > 0) faults.push(`${path}: ${found.fault}`);
      continue;
    }
    try {
      copyDocument(folder, id, basename(path), found.content);
    } catch (error) {
      if (errorCode(error) === GONE) return null;
      faults.push(`${path}: ${describeFileTrouble(error)}`);
    }
  }
  const state = { ...log.state, session_id: id };
  return [...faults, ...leaveMirror(state, root, places)];
}

/** @returns the documents in the list of an archiving, without the mirror */
export function documentsIn(archived: readonly string[]): string[] {
  const name = mirrorIn(archived);
  return name === null ? [...archived] : archived.filter((path) => mirrorIn([path]) !== name);
}

/** The mirror that an archived session leaves, with the texts in it. */
export interface LeftMirror {
  readonly mirror: Mirror;
  readonly texts: MirrorTexts;
  /** The paths of the session, relative to the workspace. */
  readonly documents: readonly string[];
}

/**
 * @param root of its workspace
 * @returns null if it has none
 * @throws RefusedError if its folder leads out of the workspace now
 */
export function mirrorOfArchived({ archived, facts }: Worklog, root: string | null, places: Places): LeftMirror | null {
  const all = archived?.documents ?? [];
  const name = mirrorIn(all);
  const workspace = facts?.workspace ?? null;
  if (name === null || root === null || workspace === null) return null;
  return { mirror: mirrorAt(root, name), texts: new MirrorTexts(places, workspace), documents: documentsIn(all) };
}

function leaveMirror(state: Worklog & { readonly session_id: string }, root: string | null, places: Places): string[] {
  try {
    const left = mirrorOfArchived(state, root, places);
    if (left !== null) retire(left.mirror, left.texts, state.session_id, left.documents);
    return [];
  } catch (error) {
    return [`its mirror: ${describeError(error)}`];
  }
}

/**
 * @param path relative to the workspace, or absolute
 * @param root of the workspace; null if it is unknown
 */
export function documentFrom(
  path: string,
  root: string | null,
): { readonly content: Buffer } | { readonly fault: string } {
  if (root === null && !isAbsolute(path)) return { fault: 'its directory is unknown' };
  try {
    return { content: readDocument(resolve(root ?? '/', path)) };
  } catch (error) {
    const isGone = errorCode(error) === GONE;
    return { fault: isGone ? 'it is not there' : describeFileTrouble(error) };
  }
}

/** @returns the top level of its workspace; null if no log says it, or it cannot be read */
function rootOf({ facts }: Worklog, places: Places): string | null {
  const workspace = facts?.workspace ?? null;
  try {
    return workspace === null
      ? null
      : (readOnly(places.workspaceLog(workspace), workspaceKind, 'workspace')?.root ?? null);
  } catch (error) {
    if (error instanceof UnreachableError) return null;
    throw error;
  }
}
