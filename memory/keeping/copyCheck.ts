/** Whether the kept copy of a session is what its worklog says. */
import { lstatSync } from 'node:fs';
import { describeError } from '../../src/errors.js';
import type { Worklog } from '../fold/worklog.js';
import { journalIn } from '../home/places.js';
import { checkCopy, readSeal } from '../observed/keptCopy.js';

export interface Found {
  readonly ok: boolean;
  /** For people, in a clause. */
  readonly found: string;
}

/** @param folder of the session */
export function findCopy(folder: string, { kept, conversations }: Worklog): Found {
  const path = journalIn(folder);
  if (kept?.failure != null) return { ok: false, found: `the last attempt failed: ${kept.failure}` };
  try {
    // A failed look is no proof that it is gone.
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return wholeness(path, kept?.copy?.digest ?? null);
  } catch (error) {
    return { ok: false, found: `${path}: ${describeError(error)}` };
  }
  if (kept?.copy != null) return { ok: false, found: `${path} is gone` };
  if (kept?.removed) return { ok: true, found: 'it was removed because of its age' };
  return { ok: true, found: conversations.length === 0 ? 'there is nothing to copy' : 'nothing was kept yet' };
}

/** @throws what reading it throws */
function wholeness(path: string, expected: string | null): Found {
  if (readSeal(path) === null && expected === null) return { ok: true, found: 'it is a journal' };
  const { digest, isWhole, bytes } = checkCopy(path);
  if (!isWhole) return { ok: false, found: `${path} is not whole` };
  // A process was killed between the copy and its line in the worklog; the next attempt writes the line.
  const words = digest === expected ? '' : ', and newer than the worklog knows';
  return { ok: true, found: `${bytes} bytes are whole${words}` };
}
