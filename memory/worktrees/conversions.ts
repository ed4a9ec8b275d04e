/** What git changes in files when it writes them: line ends, encodings, `$Id$`, and all that programs called filters do. */
import type { Repository, WorktreePlace } from '../git/repository.js';
import { isFilterName } from './records.js';

const ATTRIBUTES = ['text', 'eol', 'ident', 'filter', 'working-tree-encoding'];
const NONE = ['unspecified', 'unset'];
/** `check-attr -z` prints the path, an attribute and its value. */
const WORDS = 3;

/**
 * @param files as `latin1`, relative to the top level
 * @returns the filters of these files; null if git writes all of them byte for byte
 */
export function conversionsOf(
  { askIn }: Repository,
  place: WorktreePlace,
  files: readonly string[],
): readonly string[] | null {
  if (files.length === 0) return null;
  // The last of several counts.
  const listed = askIn(place, ['config', '--get-regexp', '^core\\.(autocrlf|eol)$'])?.toLowerCase().split('\n') ?? [];
  const setting = (key: string) => listed.findLast((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
  const isToCrlf = setting('core.autocrlf') === 'true' || setting('core.eol') === 'crlf';
  const input = files.map((file) => `${file}\0`).join('');
  const printed = askIn(place, ['check-attr', '-z', '--stdin', ...ATTRIBUTES], 'latin1', input)?.split('\0');
  // If git cannot say it, they may be converted.
  if (printed === undefined) return [];
  const given = Array.from({ length: Math.floor(printed.length / WORDS) }, (_, at) => ({
    name: printed[at * WORDS + 1] ?? '',
    value: printed[at * WORDS + 2] ?? '',
  }));
  const isConverted = given.some(({ name, value }) => {
    if (name === 'text') return isToCrlf && value !== 'unset';
    return name === 'eol' ? value === 'crlf' : !NONE.includes(value);
  });
  if (!isConverted) return null;
  const filters = given.flatMap(({ name, value }) => (name === 'filter' && !NONE.includes(value) ? [value] : []));
  return [...new Set(filters)].filter(isFilterName);
}
