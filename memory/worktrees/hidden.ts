/** Changes that git does not show: of files that it was told to take for unchanged, or for absent. */
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { entryAt } from './entry.js';

/** `ls-files -v` marks a file that is taken for unchanged with a small letter, and one that is taken for absent with `S`. */
const HIDDEN = /^[a-zS] /;
const TAG = 'H '.length;

/** @returns relative to the top level; null if git cannot say */
export function hiddenChanges(repository: Repository, place: WorktreePlace): string[] | null {
  const listed = repository.askIn(place, ['ls-files', '-v', '-z']);
  if (listed === null) return null;
  const hidden = listed.split('\0').filter((entry) => HIDDEN.test(entry));
  const present = hidden.map((entry) => entry.slice(TAG)).filter((path) => entryAt(join(place.root, path)) !== null);
  if (present.length === 0) return [];
  const staged = repository.askIn(place, ['ls-files', '-s', '-z', '--', ...present.map((path) => `:(literal)${path}`)]);
  const objects = new Map(
    staged
      ?.split('\0')
      .map((entry): [string, string] => [entry.slice(entry.indexOf('\t') + 1), entry.split(' ')[1] ?? '']),
  );
  return present.filter((path) => objectOf(repository, join(place.root, path)) !== objects.get(path));
}

function objectOf({ attempt }: Repository, path: string): string {
  const isLink = entryAt(path)?.isSymbolicLink() === true;
  const words = ['hash-object', '--no-filters', ...(isLink ? ['--stdin'] : ['--', path])];
  return attempt(words, isLink ? { input: readlinkSync(path) } : {}).out.trim();
}
