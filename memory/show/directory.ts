/** How a session's directory has changed after the session began. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UnreachableError } from '../../src/errors.js';
import type { Redact } from '../../src/log/redact.js';
import { oneLine } from '../../src/log/visibleText.js';
import type { Worklog } from '../fold/worklog.js';
import { type Checkout, checkoutOf, shortCommit } from '../git/checkout.js';
import { directoryOfAgent, type Locating } from '../look/standing.js';
import type { Viewer } from '../sessions/views.js';
import { type Workspace, worktreeAt } from '../workspaces/workspace.js';
import { type BringingBack, wayToBringBack } from '../worktrees/bringBack.js';
import { registeredIn, repositoryAt } from '../worktrees/place.js';
import { removedWorktrees } from '../worktrees/records.js';

/** Comes before the path of a lost directory. */
export const IS_GONE = 'its directory does not exist any more';

const GIT_IS_SILENT = 'git does not say how to bring it back; ask once more when git answers';

/** @returns where it was; null if it is there, is on another host, or its place is unknown */
export function lostDirectory(memory: Viewer, log: Worklog): string | null {
  const root = memory.workspaceOf(log)?.root ?? null;
  if (root === null || memory.runsOf(log).elsewhere !== null) return null;
  return existsSync(root) ? null : root;
}

/**
 * @param root of its workspace, which is gone
 * @returns how a removed worktree is brought back; null if it was none, or its commits are not found
 */
export function wayBackTo({ claims, surroundings }: Viewer, log: Worklog, root: string): BringingBack | null {
  const noted = claims.worktrees.find(worktreeAt(root));
  const common = noted?.common ?? repositoryAt(surroundings.directory)?.common ?? null;
  if (common === null) return null;
  const known = noted ?? log.facts?.baseline ?? null;
  // For an older record, only the repository itself can say that the worktree was its own.
  if (noted === null && !isRemoved(common, root) && registeredIn(common).every((one) => one.root !== root)) return null;
  return wayToBringBack(
    { root, common, branch: known?.branch ?? null, head: known?.head ?? null },
    surroundings.variables,
  );
}

/**
 * @returns the directory of the session, wherever the caller is; that of the caller if it is unknown
 * @throws UnreachableError if it does not exist
 */
export function requireDirectory(memory: Viewer, log: Worklog): Workspace {
  const lost = lostDirectory(memory, log);
  if (lost === null) return memory.workspaceOf(log) ?? memory.workspace;
  const clauses = [`the directory of session ${log.session_id} does not exist any more: ${lost}`];
  throw new UnreachableError([...clauses, ...backWords(memory, log, lost, { path: (line) => line })].join('; '));
}

/** Puts foreign text into a sentence. */
interface Naming {
  path(text: string): string;
  name(text: string): string;
}

/**
 * @returns clauses, if the directory is gone, or another branch or commit is checked out in it than when the session began, or its agent
 *   has moved to another one; null if nothing of this is so
 */
export function placeNow(memory: Locating, log: Worklog, words: Naming): string | null {
  const clauses = [...directoryWords(memory, log, words), ...movedWords(memory, log, words)];
  return clauses.length === 0 ? null : clauses.join('; ');
}

function directoryWords(memory: Locating, log: Worklog, words: Naming): string[] {
  const lost = lostDirectory(memory, log);
  if (lost !== null) return [`${IS_GONE}: ${words.path(lost)}`, ...backWords(memory, log, lost, words)];
  const before = log.facts?.baseline ?? null;
  const root = before === null ? null : (memory.workspaceOf(log)?.root ?? null);
  if (before === null || root === null) return [];
  const began = `it began on ${wordsOf(before, words)}`;
  if (!existsSync(join(root, '.git'))) return [`${began}; it is no checkout of git any more`];
  const now = checkoutOf(root);
  return now === null || isSame(before, now, memory.stamp.redact)
    ? []
    : [`${began}; ${wordsOf(now, words)} is checked out now`];
}

/** @returns for a person, how a lost directory comes back, and where the agent is if it moved on */
export function placeLines(memory: Locating, log: Worklog): string[] {
  const words = { path: oneLine, name: oneLine };
  const lost = lostDirectory(memory, log);
  return [...(lost === null ? [] : backWords(memory, log, lost, words)), ...movedWords(memory, log, words)];
}

/** Where the agent is, or was last, if that is no directory of the session's workspace. */
function movedWords(memory: Locating, log: Worklog, words: Naming): string[] {
  const directory = directoryOfAgent(memory, { id: log.session_id ?? '', log: { state: log } });
  const own = memory.workspaceOf(log);
  if (directory === null || own === null) return [];
  const was = memory.runsOf(log).alive.length > 0 ? 'is' : 'was last';
  if (!existsSync(directory)) {
    const top = removedTop(memory, directory);
    if (top === own.root) return [];
    const back = top === null ? [] : backWords(memory, log, top, words);
    return [`its agent ${was} in ${words.path(directory)}, which does not exist any more`, ...back];
  }
  const now = memory.claims.workspaceOf(directory, memory.surroundings.variables);
  if (now.id === own.id) return [];
  return now.id === memory.workspace.id
    ? [`it began in ${words.path(own.root)}, where its relative paths begin, and its agent came here`]
    : [`its agent ${was} in ${words.path(directory)}`];
}

/** @returns the top of the worktree that a lost directory was in; null if none is known */
function removedTop({ claims, surroundings }: Viewer, directory: string): string | null {
  const common = repositoryAt(surroundings.directory)?.common ?? null;
  for (let folder = directory; !existsSync(folder); folder = dirname(folder))
    if (claims.worktrees.find(worktreeAt(folder)) !== null || isRemoved(common, folder)) return folder;
  return null;
}

/** An agent that enters a worktree and is killed there leaves no note. `worktree end` does. */
function isRemoved(common: string | null, root: string): boolean {
  return common !== null && removedWorktrees(common).some(({ path }) => path === root);
}

/** @returns a clause with the command, or that git does not know one now; none if there is no way back */
function backWords(memory: Viewer, log: Worklog, lost: string, words: Pick<Naming, 'path'>): string[] {
  const back = wayBackTo(memory, log, lost);
  if (back === null) return [];
  return [back === 'unanswered' ? GIT_IS_SILENT : `to bring it back: ${words.path(back.line)}`];
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
