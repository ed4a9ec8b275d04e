/**
 * Uncommitted changes in the submodules of a worktree. Git would look into each with the programs that its configuration names, so each is
 * asked as a repository of its own.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitFoldersOf } from '../git/checkout.js';
import type { GitVariables } from '../git/gitLine.js';
import { pathOutside } from '../git/outside.js';
import { type Refusal, refusalAt } from '../git/refusal.js';
import { type Asking, type Repository, type WorktreePlace, withRepository } from '../git/repository.js';
import { type Dirt, stateOf } from './dirt.js';
import { submodulesAmong } from './staged.js';

/** The mode of a submodule in git's index. The same bytes may be a part of something else. */
const MODE = Buffer.from([0, 0, 0xe0, 0]);
/** In an index that leaves entries to another file. */
const SPLIT = 'link';
const GIT = Buffer.from('/.git');
const NO_ROOTS: ReadonlySet<string> = new Set();

/** A repository about which git does not say it. */
export interface Unseen extends Refusal {
  readonly path: string;
}

/** @returns the files relative to the top level, also those of submodules inside; or the first submodule that cannot be seen */
export function dirtInSubmodules(
  repository: Repository,
  place: WorktreePlace,
  variables: GitVariables,
  asking: Asking,
): Dirt | Unseen {
  const found = { tracked: [] as string[], untracked: [] as string[] };
  const submodules = submodulesOf(repository, place);
  if (submodules === null) return { path: place.root, refusal: repository.refusal };
  // The project around is not the submodule's own.
  const outside = { ...variables, ...pathOutside(place.root, variables.PATH) };
  for (const path of submodules) {
    const dirt = dirtOf(join(place.root, path), outside, asking);
    if ('path' in dirt) return dirt;
    found.tracked.push(...dirt.tracked.map((file) => `${path}/${file}`));
    found.untracked.push(...dirt.untracked.map((file) => `${path}/${file}`));
  }
  return found;
}

/** Mostly there are none, and git's index shows it without a process. @returns those that have files; null if git cannot say */
function submodulesOf(repository: Repository, place: WorktreePlace): string[] | null {
  if (!mayHaveSome(place)) return [];
  const entries = repository.askIn(place, ['ls-files', '-s', '-z'], 'latin1')?.split('\0');
  return entries === undefined ? null : initialisedAmong(place.root, submodulesAmong(entries));
}

function mayHaveSome({ folder }: WorktreePlace): boolean {
  const path = join(folder, 'index');
  if (!existsSync(path)) return false;
  const index = readFileSync(path);
  return index.includes(MODE) || index.includes(SPLIT);
}

/** @param submodules their paths, as `latin1`: a name may be no text @returns those that have files, as people read them */
export function initialisedAmong(root: string, submodules: readonly string[]): string[] {
  const bytes = submodules.map((path) => Buffer.from(path, 'latin1'));
  const initialised = bytes.filter((path) => existsSync(Buffer.concat([Buffer.from(`${root}/`), path, GIT])));
  return initialised.map((path) => path.toString());
}

function dirtOf(root: string, variables: GitVariables, asking: Asking): Dirt | Unseen {
  const found = withRepository(root, variables, asking, (repository): Dirt | Unseen => {
    const place = { root, folder: gitFoldersOf(root).folder };
    const dirt = stateOf(repository, place, NO_ROOTS)?.dirt;
    if (dirt === undefined) return { path: root, refusal: repository.refusal };
    const inside = dirtInSubmodules(repository, place, variables, asking);
    return 'path' in inside ? inside : together(dirt, inside);
  });
  return found ?? { path: root, refusal: refusalAt(root, variables) };
}

export function together(one: Dirt, other: Dirt): Dirt {
  return { tracked: [...one.tracked, ...other.tracked], untracked: [...one.untracked, ...other.untracked] };
}
