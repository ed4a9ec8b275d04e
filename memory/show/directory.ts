/** How a session's directory has changed after the session began. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UnreachableError } from '../../src/errors.js';
import type { Redact } from '../../src/log/redact.js';
import type { Worklog } from '../fold/worklog.js';
import { type Checkout, checkoutOf, shortCommit } from '../git/checkout.js';
import type { Memory } from '../sessions/memory.js';
import type { Workspace } from '../workspaces/workspace.js';

/** Comes before the path of a lost directory. */
export const IS_GONE = 'its directory does not exist any more';

/** Knows the directories of sessions. */
type Placed = Pick<Memory, 'workspaceOf' | 'workspace' | 'runsOf'>;

/** @returns where it was; null if it is there, is on another host, or its place is unknown */
export function lostDirectory(memory: Placed, log: Worklog): string | null {
  const root = memory.workspaceOf(log)?.root ?? null;
  if (root === null || memory.runsOf(log).elsewhere !== null) return null;
  return existsSync(root) ? null : root;
}

/**
 * @returns the directory of the session, wherever the caller is; that of the caller if it is unknown
 * @throws UnreachableError if it does not exist
 */
export function requireDirectory(memory: Placed, log: Worklog): Workspace {
  const lost = lostDirectory(memory, log);
  if (lost === null) return memory.workspaceOf(log) ?? memory.workspace;
  throw new UnreachableError(`the directory of session ${log.session_id} does not exist any more: ${lost}`);
}

/** Puts foreign text into a sentence. */
interface Naming {
  path(text: string): string;
  name(text: string): string;
}

/** @returns a clause if the directory is gone, or another branch or commit is checked out in it than when the session began */
export function placeNow(memory: Placed & Pick<Memory, 'stamp'>, log: Worklog, words: Naming): string | null {
  const lost = lostDirectory(memory, log);
  if (lost !== null) return `${IS_GONE}: ${words.path(lost)}`;
  const before = log.facts?.baseline ?? null;
  const root = before === null ? null : (memory.workspaceOf(log)?.root ?? null);
  if (before === null || root === null) return null;
  const began = `it began on ${wordsOf(before, words)}`;
  if (!existsSync(join(root, '.git'))) return `${began}; it is no checkout of git any more`;
  const now = checkoutOf(root);
  return now === null || isSame(before, now, memory.stamp.redact)
    ? null
    : `${began}; ${wordsOf(now, words)} is checked out now`;
}

/** The names of branches are kept redacted. A commit that is not found quickly is unknown, and no other one. */
function isSame(before: Checkout, now: Checkout, redact: Redact): boolean {
  const isOther = now.head !== null && before.head !== null && now.head !== before.head;
  return !isOther && (now.branch === null ? null : redact(now.branch)) === before.branch;
}

function wordsOf({ branch, head }: Checkout, words: Naming): string {
  const commit = head === null ? null : words.name(shortCommit(head));
  if (branch === null) return `commit ${commit}`;
  return `branch ${words.name(branch)}${commit === null ? '' : ` at ${commit}`}`;
}
