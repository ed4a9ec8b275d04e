/** Changes that git does not show: of files that it was told to take for unchanged, or for absent. */
import type { Repository, WorktreePlace } from '../git/repository.js';

/** `ls-files -v` marks a file that is taken for unchanged with a small letter, and one that is taken for absent with `S`. */
const HIDDEN = /^[a-zS] /;
const TAG = 'H '.length;
/** `update-index --refresh` says so of files that are not as in the index. */
const DIFFER = 1;

/**
 * @returns files whose bytes, mode or kind is another one, relative to the top level, as `latin1`: a name may be no text. Those that are
 *   gone hold nothing, and are left out. Null if git cannot say
 */
export function hiddenChanges(repository: Repository, place: WorktreePlace): string[] | null {
  const listed = repository.askIn(place, ['ls-files', '-v', '-z'], 'latin1');
  if (listed === null) return null;
  const names = listed.split('\0').flatMap((entry) => (HIDDEN.test(entry) ? [entry.slice(TAG)] : []));
  if (names.length === 0) return [];
  const hidden = new Set(names);
  const staged = repository.askIn(place, ['ls-files', '-s', '-z'], 'latin1')?.split('\0');
  if (staged === undefined) return null;
  // An index of ours has the same files, and hides none.
  const entries = staged.filter((entry) => hidden.has(entry.slice(entry.indexOf('\t') + 1)));
  const keep = (args: readonly string[], input?: string) => repository.keepFiles(place, args, input);
  const isMade =
    keep(['read-tree', '--empty']).code === 0 &&
    keep(['update-index', '-z', '--index-info'], entries.map((entry) => `${entry}\0`).join('')).code === 0;
  const { code } = isMade ? keep(['update-index', '-q', '--refresh']) : { code: null };
  if (code !== 0 && code !== DIFFER) return null;
  const differing = keep(['diff-files', '-z', '--name-only', '--diff-filter=d', '--ignore-submodules=all']);
  return differing.code === 0 ? differing.out.split('\0').filter((path) => path !== '') : null;
}
