/** What the index of a worktree says and `git status` does not show. */
import type { Repository, WorktreePlace } from '../git/repository.js';

/** Git marks a file that is taken for unchanged with a small letter, and one that is taken for absent with `S`. */
const HIDDEN = /^[a-zS] /;
const FLAGS = { 'assume-unchanged': /^[hs] /, 'skip-worktree': /^[Ss] / } as const;
const SUBMODULE = '160000 ';
const TAG = 'H '.length;
/** `update-index --refresh` says so of files that are not as in the index. */
const DIFFER = 1;

export interface Staged {
  /** As `git ls-files -s` prints them, as `latin1`. */
  readonly entries: readonly string[];
  /**
   * Files that git takes for unchanged or for absent, as its user has set, and whose bytes, mode or kind is another one. Those that are
   * gone hold nothing, and are left out. Relative to the top level, as `latin1`: a name may be no text
   */
  readonly hidden: readonly string[];
  /** Files that git takes for unchanged, and for absent, whether they are changed or not; as `hidden`. */
  readonly flagged: Readonly<Record<'assume-unchanged' | 'skip-worktree', readonly string[]>>;
  /** Paths of submodules, whether they are initialised or not. */
  readonly submodules: readonly string[];
}

/** @returns null if git cannot say */
export function stagedIn(repository: Repository, place: WorktreePlace): Staged | null {
  const tagged = repository.askIn(place, ['ls-files', '-s', '-v', '-z'], 'latin1')?.split('\0');
  if (tagged === undefined) return null;
  const entries = tagged.filter((entry) => entry !== '').map((entry) => entry.slice(TAG));
  const marked = tagged.filter((entry) => HIDDEN.test(entry)).map((entry) => entry.slice(TAG));
  const hidden = marked.length === 0 ? [] : changedOf(repository, place, marked);
  if (hidden === null) return null;
  const modules = entries.filter((entry) => entry.startsWith(SUBMODULE));
  const submodules = modules.map((entry) => Buffer.from(pathOf(entry), 'latin1').toString());
  const withFlag = (flag: RegExp) => tagged.filter((entry) => flag.test(entry)).map(pathOf);
  const flagged = {
    'assume-unchanged': withFlag(FLAGS['assume-unchanged']),
    'skip-worktree': withFlag(FLAGS['skip-worktree']),
  };
  return { entries, hidden, flagged, submodules };
}

/** @returns the path of an entry, as `latin1` */
export function pathOf(entry: string): string {
  return entry.slice(entry.indexOf('\t') + 1);
}

/** An index of ours has the same entries, and hides none. */
function changedOf(repository: Repository, place: WorktreePlace, entries: readonly string[]): string[] | null {
  const keep = (args: readonly string[], input?: string) => repository.keepFiles(place, args, input);
  const isMade =
    keep(['read-tree', '--empty']).code === 0 &&
    keep(['update-index', '-z', '--index-info'], entries.map((entry) => `${entry}\0`).join('')).code === 0;
  const { code } = isMade ? keep(['update-index', '-q', '--refresh']) : { code: null };
  if (code !== 0 && code !== DIFFER) return null;
  const differing = keep(['diff-files', '-z', '--name-only', '--diff-filter=d', '--ignore-submodules=all']);
  return differing.code === 0 ? differing.out.split('\0').filter((path) => path !== '') : null;
}
