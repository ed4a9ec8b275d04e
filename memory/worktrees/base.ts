/** The branch that others begin at and are merged into. */
import { isAncestor } from '../git/ancestry.js';
import type { Repository } from '../git/repository.js';
import { branchIn } from './table.js';

const REFS = ['for-each-ref', '--format=%(refname)%09%(objectname)%09%(symref)'];
const LOCAL = 'refs/heads/';
const REMOTE = 'refs/remotes/';
const USUAL_REMOTE = 'origin';
const USUAL_NAMES = ['main', 'master'];
/** All that {@link baseAmong} needs for most repositories. */
export const REFS_OF_BASE: readonly string[] = [
  `${REMOTE}*/HEAD`,
  ...USUAL_NAMES.flatMap((name) => [LOCAL + name, `${REMOTE}*/${name}`]),
];

export interface Base {
  /** The name of the default branch: `main`. */
  readonly branch: string;
  /** The one that is taken: `main`, or `origin/main` if that has all of it and more, or no local one is there. */
  readonly name: string;
  readonly commit: string;
  /** How many commits the local branch lacks; null if it is taken itself, or is not there. */
  readonly behind: number | null;
}

export interface Ref {
  /** The whole name. */
  readonly name: string;
  readonly commit: string;
  /** The ref that it stands for; empty if it is no such ref. */
  readonly target: string;
}

/** @returns null if no default branch is known, or it has no commit; `unanswered` if git does not say */
export function baseOf(repository: Repository): Base | 'unanswered' | null {
  const known = refsOf(repository, REFS_OF_BASE);
  return known === null ? 'unanswered' : baseAmong(repository, known);
}

/** As {@link baseOf}. @param known all refs that match {@link REFS_OF_BASE}, or more */
export function baseAmong(repository: Repository, known: readonly Ref[]): Base | 'unanswered' | null {
  const heads = known.filter(({ target }) => target.startsWith(REMOTE));
  const ofRemote = heads.find(({ name }) => name === `${REMOTE}${USUAL_REMOTE}/HEAD`) ?? heads[0];
  const remote = ofRemote === undefined ? USUAL_REMOTE : (ofRemote.name.slice(REMOTE.length).split('/')[0] ?? '');
  const branch = ofRemote?.target.slice(`${REMOTE}${remote}/`.length) ?? usualName(known) ?? ownHead(repository);
  if (branch === undefined) return 'unanswered';
  if (branch === null) return null;
  const tracking = `${REMOTE}${remote}/${branch}`;
  const refs = USUAL_NAMES.includes(branch) ? known : refsOf(repository, [LOCAL + branch, tracking]);
  if (refs === null) return 'unanswered';
  const local = refs.find(({ name }) => name === LOCAL + branch);
  const theirs = refs.find(({ name }) => name === tracking);
  const isBehind = local && theirs ? isAncestor(repository, local.commit, theirs.commit) : local === undefined;
  if (isBehind === null) return 'unanswered';
  if (theirs !== undefined && isBehind && theirs.commit !== local?.commit) {
    const behind = local === undefined ? null : countBetween(repository, local, theirs);
    return { branch, name: `${remote}/${branch}`, commit: theirs.commit, behind };
  }
  return local === undefined ? null : { branch, name: branch, commit: local.commit, behind: null };
}

/**
 * @param patterns of `git for-each-ref`
 * @returns null if git does not say
 */
export function refsOf({ ask }: Repository, patterns: readonly string[]): Ref[] | null {
  const lines = ask([...REFS, ...patterns])?.split('\n');
  if (lines === undefined) return null;
  return lines.flatMap((line) => {
    const [name = '', commit = '', target = ''] = line.split('\t');
    return commit === '' ? [] : [{ name, commit, target }];
  });
}

function usualName(known: readonly Ref[]): string | null {
  return USUAL_NAMES.find((name) => known.some((ref) => ref.name === LOCAL + name)) ?? null;
}

/** The branch with which the repository was made, if its own checkout is on it, or it has none. Undefined if git does not say. */
function ownHead(repository: Repository): string | null | undefined {
  return branchIn(repository, repository.common);
}

function countBetween({ ask }: Repository, one: Ref, other: Ref): number | null {
  const count = ask(['rev-list', '--count', `${one.commit}..${other.commit}`]);
  return count === null ? null : Number(count);
}
