/** Repositories inside a worktree that git does not list: those in the folder of a tracked file, and damaged ones. */
import { dirname } from 'node:path';
import type { Repository, WorktreePlace } from '../git/repository.js';
import { entryAt } from './entry.js';

const GIT = Buffer.from('/.git');

/**
 * @param files that git does not track, relative to the top level
 * @returns the folders of tracked and of these files that have a `.git`, but not the top level; null if git cannot say
 */
export function repositoriesAmong(
  { askIn }: Repository,
  place: WorktreePlace,
  files: readonly string[],
): string[] | null {
  const tracked = askIn(place, ['ls-files', '-z'], 'latin1')?.split('\0');
  if (tracked === undefined) return null;
  const others = files.filter((file) => !file.endsWith('/')).map((file) => Buffer.from(file).toString('latin1'));
  const root = Buffer.from(`${place.root}/`);
  const at = (folder: string) => Buffer.concat([root, Buffer.from(folder, 'latin1')]);
  /** Whether it is a folder, and not behind a link that has taken the place of one. */
  const known = new Map<string, boolean>([['.', true]]);
  const isFolder = (folder: string): boolean => {
    const is = known.get(folder) ?? (isFolder(dirname(folder)) && entryAt(at(folder))?.isDirectory() === true);
    known.set(folder, is);
    return is;
  };
  for (const file of [...tracked, ...others]) isFolder(dirname(file));
  known.delete('.');
  return [...known].flatMap(([folder, is]) =>
    is && entryAt(Buffer.concat([at(folder), GIT])) !== null ? [`${Buffer.from(folder, 'latin1')}/`] : [],
  );
}
