/** What became of the directory of a session since it began. */
import { existsSync } from 'node:fs';
import { UnreachableError } from '../../src/errors.js';
import type { Worklog } from '../fold/worklog.js';
import { type Checkout, checkoutOf } from '../git/checkout.js';
import type { Memory } from '../sessions/memory.js';
import type { Workspace } from '../workspaces/workspace.js';

/** Of a commit, as checkpoints show it. */
const DIGEST_LENGTH = 10;

/** @returns where it was; null: it is there, or nobody knows where it was */
export function lostDirectory(memory: Memory, log: Worklog): string | null {
  const root = memory.workspaceOf(log)?.root ?? null;
  return root === null || existsSync(root) ? null : root;
}

/**
 * @returns the directory of the session, wherever the caller is; that of the caller if nobody knows it
 * @throws UnreachableError if it does not exist
 */
export function requireDirectory(memory: Memory, log: Worklog): Workspace {
  const lost = lostDirectory(memory, log);
  if (lost === null) return memory.workspaceOf(log) ?? memory.workspace;
  throw new UnreachableError(`the directory of session ${log.session_id} does not exist any more: ${lost}`);
}

/**
 * @param name puts a path or the name of a branch into the sentence
 * @returns a clause if the directory is gone, or another branch or commit is checked out in it than when the session began
 */
export function placeNow(memory: Memory, log: Worklog, name: (text: string) => string): string | null {
  const lost = lostDirectory(memory, log);
  if (lost !== null) return `its directory does not exist any more: ${name(lost)}`;
  const before = log.facts?.baseline ?? null;
  const root = before === null ? null : (memory.workspaceOf(log)?.root ?? null);
  const now = root === null ? null : checkoutOf(root);
  if (before === null || now === null || (now.branch === before.branch && now.head === before.head)) return null;
  return `it began on ${wordsOf(before, name)}; ${wordsOf(now, name)} is checked out now`;
}

function wordsOf({ branch, head }: Checkout, name: (text: string) => string): string {
  const commit = head === null ? null : name(head.slice(0, DIGEST_LENGTH));
  if (branch === null) return `commit ${commit}`;
  return `branch ${name(branch)}${commit === null ? '' : ` at ${commit}`}`;
}
