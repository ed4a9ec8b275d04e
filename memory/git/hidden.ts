/** Changes that `git status` does not show, because git was told to take their files for unchanged or for absent. */
import type { Repository, WorktreePlace } from './repository.js';

/** Git marks a file that is taken for unchanged with a small letter, and one that is taken for absent with `S`. */
const HIDDEN = /^[a-zS] /;
const TAG = 'H '.length;
/** `update-index --refresh` says so of files that are not as in the index. */
const DIFFER = 1;

/** @returns the entries of the index as `git ls-files -s -v` prints them, as `latin1`; null if git cannot say */
export function taggedEntries({ askIn }: Repository, place: WorktreePlace): string[] | null {
  const listed = askIn(place, ['ls-files', '-s', '-v', '-z'], 'latin1');
  return listed?.split('\0').filter((entry) => entry !== '') ?? null;
}

/** @returns an entry as `git ls-files -s` prints it */
export function withoutTag(entry: string): string {
  return entry.slice(TAG);
}

/** As of {@link hiddenAmong}. */
export function hiddenIn(repository: Repository, place: WorktreePlace): string[] | null {
  const tagged = taggedEntries(repository, place);
  return tagged === null ? null : hiddenAmong(repository, place, tagged);
}

/**
 * @param tagged as of {@link taggedEntries}
 * @returns the files whose bytes, mode or kind is another one; null if git cannot say. Those that are gone hold nothing, and are left out.
 *   Relative to the top level, as `latin1`: a name may be no text
 */
export function hiddenAmong(repository: Repository, place: WorktreePlace, tagged: readonly string[]): string[] | null {
  const entries = tagged.filter((entry) => HIDDEN.test(entry)).map(withoutTag);
  if (entries.length === 0) return [];
  // An index of ours has the same entries, and hides none.
  const keep = (args: readonly string[], input?: string) => repository.keepFiles(place, args, input);
  const isMade =
    keep(['read-tree', '--empty']).code === 0 &&
    keep(['update-index', '-z', '--index-info'], entries.map((entry) => `${entry}\0`).join('')).code === 0;
  const { code } = isMade ? keep(['update-index', '-q', '--refresh']) : { code: null };
  if (code !== 0 && code !== DIFFER) return null;
  const differing = keep(['diff-files', '-z', '--name-only', '--diff-filter=d', '--ignore-submodules=all']);
  return differing.code === 0 ? differing.out.split('\0').filter((path) => path !== '') : null;
}
