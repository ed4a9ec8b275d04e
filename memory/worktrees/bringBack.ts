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
const TIME = /^\d[\dTZ:._-]*$/;
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

/** @returns the line for a shell that brings the folder back; null if its commits are not found, or its repository is gone */
export function wayToBringBack(removed: Removed, variables: GitVariables): string | null {
  const { root, common } = removed;
  const home = homeOf(common);
  const at = existsSync(home) ? repositoryAt(home) : null;
  if (at === null) return null;
  return withRepository(at.root, variables, ASKING, (repository) => {
    const from = sourceOf(repository, removed);
    if (from === null) return null;
    const known = registeredIn(common).find((one) => one.root === root);
    // Git refuses to make a folder that it has registered, and twice if that is locked.
    const force = known === undefined ? [] : known.lock === null ? ['-f'] : ['-f', '-f'];
    return `git ${['-C', home, 'worktree', 'add', ...force, ...from(root)].map(shellWord).join(' ')}`;
  });
}

/** Puts the words about branch and commit around the folder. */
type Source = (root: string) => string[];

function sourceOf({ ask, common }: Repository, { root, branch, head }: Removed): Source | null {
  const exists = (name: string) => ask(['rev-parse', '--verify', '-q', `${name}^{commit}`]) !== null;
  const isBusy = branch !== null && isCheckedOut(common, branch, root);
  if (branch !== null && !isBusy && exists(`refs/heads/${branch}`)) return (path) => [path, branch];
  const refs = ask(['for-each-ref', '--sort=-refname', '--format=%(refname)', KEPT])?.split('\n') ?? [];
  const name = branch?.replaceAll('/', '-') ?? basename(root);
  const kept = refs.find(
    (ref) => ref.startsWith(`${KEPT}${name}-`) && TIME.test(ref.slice(KEPT.length + name.length + 1)),
  );
  const commit = kept ?? (head !== null && isCommit(head) && exists(head) ? head : null);
  if (commit === null) return null;
  return (path) => (branch === null || isBusy ? ['--detach', path, commit] : ['-b', branch, path, commit]);
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
