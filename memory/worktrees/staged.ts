/** What the index of a worktree says and `git status` does not show. */
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { entryAt } from './entry.js';

/** Git marks a file that is taken for unchanged with a small letter, and one that is taken for absent with `S`. */
const HIDDEN = /^[a-zS] /;
/** What follows the mark of each entry: `100644 OBJECT STAGE`, a tab, the path. */
const ENTRY = /^. (\d+) ([0-9a-f]+) \d\t(.*)$/s;
const SUBMODULE = '160000 ';
const TAG = 'H '.length;

export interface Staged {
  /** Changed files that git takes for unchanged or for absent, as its user has set. Relative to the top level. */
  readonly hidden: readonly string[];
  /** Paths of submodules, whether they are initialised or not. */
  readonly submodules: readonly string[];
}

/** @returns null if git cannot say */
export function stagedIn(repository: Repository, place: WorktreePlace): Staged | null {
  const entries = repository.askIn(place, ['ls-files', '-s', '-v', '-z'])?.split('\0');
  if (entries === undefined) return null;
  const hidden = entries.flatMap((entry) => {
    const [, , object = '', path = ''] = HIDDEN.test(entry) ? (ENTRY.exec(entry) ?? []) : [];
    return path === '' || !isChanged(repository, join(place.root, path), object) ? [] : [path];
  });
  const modules = entries.filter((entry) => entry.startsWith(SUBMODULE, TAG));
  return { hidden, submodules: modules.flatMap((entry) => ENTRY.exec(entry)?.[3] ?? []) };
}

/** Whether a file that is there has other contents than an object. */
function isChanged({ attempt }: Repository, path: string, object: string): boolean {
  const entry = entryAt(path);
  if (entry === null) return false;
  const isLink = entry.isSymbolicLink();
  const words = ['hash-object', '--no-filters', ...(isLink ? ['--stdin'] : ['--', path])];
  return attempt(words, isLink ? { input: readlinkSync(path) } : {}).out.trim() !== object;
}
