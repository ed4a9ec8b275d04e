/** What git changes in files when it writes them: line ends, encodings, `$Id$`, and all that programs called filters do. */
import type { Repository, WorktreePlace } from '../git/repository.js';
import { isFilterName } from './records.js';

const ATTRIBUTES = ['text', 'eol', 'ident', 'filter', 'working-tree-encoding'];
const NONE = ['unspecified', 'unset'];
const YES = ['true', 'yes', 'on', '1'];
/** `check-attr -z` prints the path, an attribute and its value. */
const WORDS = 3;

/**
 * @param files as `latin1`, relative to the top level
 * @returns the filters of these files; null if git writes all of them byte for byte
 */
export function conversionsOf(
  { askIn }: Pick<Repository, 'askIn'>,
  place: WorktreePlace,
  files: readonly string[],
): readonly string[] | null {
  if (files.length === 0) return null;
  // All settings are listed: if asked for some, git fails also if there are none.
  const settings = askIn(place, ['config', '--list', '-z']);
  const input = files.map((file) => `${file}\0`).join('');
  const printed = askIn(place, ['check-attr', '-z', '--stdin', ...ATTRIBUTES], 'latin1', input)?.split('\0');
  // If git cannot say it, they may be converted.
  if (settings === null || printed === undefined) return [];
  const isToCrlf = endsLinesWithCr(settings);
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

/** @param settings each a key in small letters, a line feed and a value; without both, the key means yes */
function endsLinesWithCr(settings: string): boolean {
  const setting = (key: string) => {
    // The last of several counts.
    const last = settings.split('\0').findLast((each) => each === key || each.startsWith(`${key}\n`));
    return last === key ? 'true' : last?.slice(key.length + 1).toLowerCase();
  };
  return YES.includes(setting('core.autocrlf') ?? '') || setting('core.eol') === 'crlf';
}
