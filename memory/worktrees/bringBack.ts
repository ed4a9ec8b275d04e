/** How a worktree whose folder was removed is brought back. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { SECOND } from '../../src/time.js';
import { checkoutIn, isCommit } from '../git/checkout.js';
import type { GitVariables } from '../git/gitLine.js';
import { type Asking, type Repository, withRepository } from '../git/repository.js';
import { homeOf, registeredIn, repositoryAt } from './place.js';

const ASKING: Asking = { about: 'commits', preparingMs: 5 * SECOND, askingMs: 10 * SECOND };
/** Where `worktree end` keeps removed worktrees for a while. The time follows the name. */
const KEPT = 'refs/watchkeeper/removed/';
const TIME = /^\d{8}T\d{6}Z(?:-\d+)? /;
/** So begins the subject of a commit that holds uncommitted changes. */
const OF_CHANGES = 'watchkeeper: ';
/** A word that a shell reads as it is. */
const PLAIN = /^[\w@%+=:,./-]+$/;

export interface Removed {
  /** Its folder, which is gone. */
  readonly root: string;
  /** The folder that all worktrees of its repository share. */
  readonly common: string;
  /** Null if none was checked out, or it is not known. */
  readonly branch: string | null;
  /** The commit when it was last seen; null if it is not known. */
  readonly head: string | null;
}

/**
 * The line is made of what git has, and not of what a file says that an agent of the project can write.
 * @returns the line for a shell that brings the folder back, with the uncommitted changes that were kept of it; null if its commits are
 *   not found, or its repository is gone
 */
export function wayToBringBack(removed: Removed, variables: GitVariables): string | null {
  const { root, common } = removed;
  const home = homeOf(common);
  const at = existsSync(home) ? repositoryAt(home) : null;
  if (at === null) return null;
  return withRepository(at.root, variables, ASKING, (repository) => {
    const source = sourceOf(repository, removed);
    if (source === null) return null;
    const known = registeredIn(common).find((one) => one.root === root);
    // Git refuses to make a folder that it has registered, and twice if that is locked.
    const force = known === undefined ? [] : known.lock === null ? ['-f'] : ['-f', '-f'];
    const commands = [
      ['-C', home, 'worktree', 'add', ...force, ...source.words],
      ...source.after.map((words) => ['-C', root, ...words]),
    ];
    return commands.map((words) => `git ${words.map(shellWord).join(' ')}`).join(' && ');
  });
}

interface Source {
  /** The folder, with the words about branch and commit around it. */
  readonly words: readonly string[];
  /** The words of each call of git in the folder, once it is there. */
  readonly after: readonly (readonly string[])[];
}

function sourceOf(repository: Repository, { root, common, branch, head }: Removed): Source | null {
  const commitOf = (name: string) =>
    repository.ask(['rev-parse', '--verify', '-q', `${name}^{commit}`])?.trim() || null;
  const isBusy = branch !== null && isCheckedOut(common, branch, root);
  const present = branch === null || isBusy ? null : commitOf(`refs/heads/${branch}`);
  const kept = keptOf(repository, branch ?? basename(root));
  const seen = head !== null && isCommit(head) ? commitOf(head) : null;
  const tip = kept?.tip ?? seen;
  const words =
    present !== null && branch !== null
      ? [root, branch]
      : tip === null
        ? null
        : branch === null || isBusy
          ? ['--detach', root, tip]
          : ['-b', branch, root, tip];
  if (words === null) return null;
  const isOfThis = kept?.changes !== undefined && (present === null || present === commitOf(kept.tip));
  const after = isOfThis
    ? [
        ['read-tree', '--reset', '-u', kept.changes],
        ['read-tree', `${kept.changes}^2`],
      ]
    : [];
  return { words, after };
}

interface Kept {
  /** A name of the commit that was the tip. */
  readonly tip: string;
  /** The ref, if it holds uncommitted changes; their index is its second parent. */
  readonly changes?: string;
}

/** @param name of the branch, or of the folder */
function keptOf({ ask }: Repository, name: string): Kept | null {
  const start = `${KEPT}${name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '')}-`;
  const lines = ask(['for-each-ref', '--sort=-refname', '--format=%(refname) %(subject)', KEPT])?.split('\n') ?? [];
  const line = lines.find((each) => each.startsWith(start) && TIME.test(each.slice(start.length)));
  const ref = line?.split(' ')[0];
  if (line === undefined || ref === undefined) return null;
  return line.slice(ref.length + 1).startsWith(OF_CHANGES) ? { tip: `${ref}^1`, changes: ref } : { tip: ref };
}

/** Git checks a branch out only once. */
function isCheckedOut(common: string, branch: string, except: string): boolean {
  const linked = registeredIn(common).filter(({ root }) => root !== null && root !== except && existsSync(root));
  return [common, ...linked.map(({ folder }) => folder)].some(
    (folder) => checkoutIn({ folder, common })?.branch === branch,
  );
}

function shellWord(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
