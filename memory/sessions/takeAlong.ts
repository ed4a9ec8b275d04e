/** Copies the documents that a session's line `session_archived` names into its folder, which moves to the archive. */
import { basename, isAbsolute, resolve } from 'node:path';
import { errorCode, UnreachableError } from '../../src/errors.js';
import { describeFileTrouble } from '../../src/files/plainFile.js';
import type { SessionLog } from '../fold/rules/kind.js';
import type { Places } from '../home/places.js';
import { readOnly } from '../logs/readOnly.js';
import { workspaceKind } from '../workspaces/log.js';
import { copyDocument, readDocument } from './documentCopies.js';

const GONE = 'ENOENT';

/**
 * Copies what is not copied yet. Any process may repeat it.
 * @param folder where the session is now
 * @returns why documents were left out, each in a clause with its path; null if the folder is no longer there
 */
export function takeAlong(
  { id, log }: { readonly id: string; readonly log: SessionLog },
  folder: string,
  places: Places,
): string[] | null {
  const { archived, facts } = log.state;
  const faults: string[] = [];
  if (archived === null || archived.documents.length === 0) return faults;
  const root = rootOf(facts?.workspace ?? null, places);
  for (const path of archived.documents) {
    const found = documentFrom(path, root);
    if ('fault' in found) {
      faults.push(`${path}: ${found.fault}`);
      continue;
    }
    try {
      copyDocument(folder, id, basename(path), found.content);
    } catch (error) {
      if (errorCode(error) === GONE) return null;
      faults.push(`${path}: ${describeFileTrouble(error)}`);
    }
  }
  return faults;
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

/** @returns null if no log says it, or it cannot be read */
function rootOf(workspace: string | null, places: Places): string | null {
  try {
    return workspace === null
      ? null
      : (readOnly(places.workspaceLog(workspace), workspaceKind, 'workspace')?.root ?? null);
  } catch (error) {
    if (error instanceof UnreachableError) return null;
    throw error;
  }
}
