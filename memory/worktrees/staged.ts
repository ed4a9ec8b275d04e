/** What the index of a worktree says and `git status` does not show. */
import { hiddenAmong, taggedEntries, withoutTag } from '../git/hidden.js';
import type { Repository, WorktreePlace } from '../git/repository.js';

const FLAGS = { 'assume-unchanged': /^[hs] /, 'skip-worktree': /^[Ss] / } as const;
const SUBMODULE = '160000 ';

export interface Staged {
  /** As `git ls-files -s` prints them, as `latin1`. */
  readonly entries: readonly string[];
  /** Files that git takes for unchanged or for absent, as its user has set, and that are changed; as of {@link hiddenAmong}. */
  readonly hidden: readonly string[];
  /** All files that git takes for unchanged, and for absent, as `latin1`. */
  readonly flagged: Readonly<Record<keyof typeof FLAGS, readonly string[]>>;
  /** Paths of submodules, as `latin1`, whether they are initialised or not. */
  readonly submodules: readonly string[];
}

/** @returns null if git cannot say */
export function stagedIn(repository: Repository, place: WorktreePlace): Staged | null {
  const tagged = taggedEntries(repository, place);
  const hidden = tagged === null ? null : hiddenAmong(repository, place, tagged);
  if (tagged === null || hidden === null) return null;
  const entries = tagged.map(withoutTag);
  const withFlag = (flag: keyof typeof FLAGS) => tagged.filter((entry) => FLAGS[flag].test(entry)).map(pathOf);
  const flagged = { 'assume-unchanged': withFlag('assume-unchanged'), 'skip-worktree': withFlag('skip-worktree') };
  return { entries, hidden, flagged, submodules: submodulesAmong(entries) };
}

/** @param entries as of {@link Staged} @returns the paths of submodules, as `latin1` */
export function submodulesAmong(entries: readonly string[]): string[] {
  return entries.filter((entry) => entry.startsWith(SUBMODULE)).map(pathOf);
}

/** @returns the path of an entry, as `latin1` */
export function pathOf(entry: string): string {
  return entry.slice(entry.indexOf('\t') + 1);
}
