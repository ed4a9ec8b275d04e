/** Makes a worktree: first the plan, which is shown and changes nothing, then what git does. */
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { MINUTE, SECOND } from '../../src/time.js';
import { commitNamed } from '../git/ancestry.js';
import { gitFoldersOf } from '../git/checkout.js';
import { type GitVariables, ordinaryLine, runGit } from '../git/gitLine.js';
import { whyUnanswered } from '../git/refusal.js';
import { type Asking, type Repository, withRepository } from '../git/repository.js';
import { baseAmong, REFS_OF_BASE, type Ref, refsOf } from './base.js';
import { copyIncluded, type Included, includedFiles } from './include.js';
import { branchFault, folderOf, nameFault, type Type } from './naming.js';
import { hasCheckout, placeOnBranch, type RepositoryPlace, registeredIn, textOf } from './place.js';

const ASKING: Asking = { about: 'files', preparingMs: 5 * SECOND, askingMs: 60 * SECOND };
/** A checkout of a large repository, with its filters and its hook. */
const ADD_MS = 10 * MINUTE;
const FETCH_MS = 2 * MINUTE;
const LOCAL = 'refs/heads/';
/** In git's folder for the worktree, so that it goes with it. */
const PORT_FILE = 'watchkeeper-port';
const PORTS = { first: 20_000, each: 10, count: 2_000 } as const;

export interface Wanted {
  readonly name: string;
  readonly type: Type;
  /** A commit or a branch to begin at; null for the default branch. */
  readonly from: string | null;
  /** An existing branch that is taken; null for a new one. */
  readonly branch: string | null;
}

export interface Plan {
  readonly branch: string;
  readonly is_new_branch: boolean;
  readonly path: string;
  /** What it begins at, and its commit. Of an existing branch, its own. */
  readonly base: { readonly name: string; readonly commit: string; readonly behind: number | null };
  /** Ignored files that are copied from the main checkout. */
  readonly files: readonly string[];
  /** The command that the configuration of the repository says; null if none. */
  readonly setup: string | null;
}

/** @returns a plan, or every reason against it; null if git does not answer */
export function planWorktree(
  place: RepositoryPlace,
  wanted: Wanted,
  variables: GitVariables,
): Plan | { readonly faults: readonly string[] } | null {
  const { name, type, branch: existing } = wanted;
  return withRepository(place.root, variables, ASKING, (repository) => {
    const known = refsOf(repository, [LOCAL, ...REFS_OF_BASE]);
    if (known === null) return null;
    const refs = known.flatMap(({ name }) => (name.startsWith(LOCAL) ? [name] : []));
    const branch = existing ?? `${type}/${name}`;
    const path = folderOf(place, type, name, repository.isContainer);
    const base = beginning(repository, wanted, known);
    const included = includedIn(repository, place);
    const fault = nameFault(name);
    const branchWords = existing === null ? branchFault(branch, refs) : takenFault(repository, existing, refs);
    const faults = [
      ...(isSubmodule(place) ? [`${place.root} is a submodule: start a worktree of the repository around it`] : []),
      ...[fault ?? branchWords].flatMap((words) => words ?? []),
      ...(existsSync(path) ? [`${path} is there already: choose another name, or remove it`] : []),
      ...(typeof base === 'string' ? [base] : []),
      ...included.faults,
    ];
    if (faults.length > 0 || typeof base === 'string') return { faults };
    const { setup } = repository;
    return { branch, is_new_branch: existing === null, path, base, files: included.files, setup };
  });
}

function beginning(repository: Repository, { from, branch }: Wanted, known: readonly Ref[]): Plan['base'] | string {
  const named = branch === null ? from : LOCAL + branch;
  if (named === null) {
    const base = baseAmong(repository, known);
    if (base === 'unanswered')
      return `git does not say which branch is the default one: ${whyUnanswered(repository)}, or say --from REF`;
    return base ?? 'there is no default branch with a commit: make a first commit, or say --from REF';
  }
  const commit = named.startsWith('-') ? null : commitNamed(repository, named);
  if (commit === 'unanswered') return `git does not say which commit ${named} is: ${whyUnanswered(repository)}`;
  if (commit === null) return branch === null ? `there is no commit ${named}` : `there is no branch ${branch}`;
  return { name: branch ?? named, commit, behind: null };
}

function includedIn(repository: Repository, place: RepositoryPlace): Included {
  if (repository.isContainer || !hasCheckout(place)) return { files: [], faults: [] };
  return includedFiles(repository, { root: place.home, folder: place.common });
}

function takenFault(repository: Repository, branch: string, refs: readonly string[]): string | null {
  const place = refs.includes(LOCAL + branch) ? placeOnBranch(repository, branch) : null;
  if (place === 'unanswered')
    return `git does not say whether ${branch} is checked out already: ${whyUnanswered(repository)}`;
  return place === null ? null : `${branch} is checked out already, in ${place}`;
}

function isSubmodule({ common }: RepositoryPlace): boolean {
  return common.includes(`${sep}.git${sep}modules${sep}`);
}

/** Asks the remotes for their branches, as `git fetch` does. @returns what git said against it; null if it is done */
export function fetchRemotes({ root }: RepositoryPlace, variables: GitVariables): string | null {
  const { code, err } = runGit(ordinaryLine(root, ['fetch', '--quiet', '--all'], variables), { limitMs: FETCH_MS });
  return code === 0 ? null : err.trim() || 'it took too long';
}

export interface Started {
  /** Whether it is there. A hook of the repository may fail after git has made it. */
  readonly is_made: boolean;
  /** What git and its hook said, if that failed; null if all is well. */
  readonly fault: string | null;
  readonly not_copied: readonly string[];
  /** The first of ten ports that no other worktree has. */
  readonly port: number;
}

/** Makes it as git does, with the checkout's filters and hooks. */
export function startWorktree(place: RepositoryPlace, plan: Plan, variables: GitVariables): Started {
  const { branch, is_new_branch, path, base, files } = plan;
  const words = is_new_branch ? ['--no-track', '-b', branch, path, base.commit] : [path, branch];
  const { code, err } = runGit(ordinaryLine(place.root, ['worktree', 'add', ...words], variables), { limitMs: ADD_MS });
  const is_made = existsSync(join(path, '.git'));
  const fault = code === 0 ? null : err.trim() || 'git did not end in time';
  if (!is_made) return { is_made, fault, not_copied: [], port: 0 };
  return { is_made, fault, not_copied: copyIncluded(files, place.home, path), port: takePort(place, path) };
}

function takePort({ common }: RepositoryPlace, path: string): number {
  const taken = registeredIn(common).map(({ folder }) => Number(textOf(join(folder, PORT_FILE))));
  let slot = createHash('sha256').update(path).digest().readUInt32BE(0) % PORTS.count;
  const portOf = (at: number) => PORTS.first + at * PORTS.each;
  for (let tries = 0; tries < PORTS.count && taken.includes(portOf(slot)); tries += 1) slot = (slot + 1) % PORTS.count;
  writeFileSync(join(gitFoldersOf(path).folder, PORT_FILE), `${portOf(slot)}\n`);
  return portOf(slot);
}
