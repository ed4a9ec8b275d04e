/** Repositories inside a worktree that git does not list: those in the folder of a tracked file, and damaged ones. */
import { dirname } from 'node:path';
import { entryAt } from './entry.js';

const GIT = Buffer.from('/.git');

/**
 * @param top of the worktree
 * @param tracked files, relative to it, as `latin1`
 * @param files that git does not track
 * @returns the folders of all of these that have a `.git`, but not the top level
 */
export function repositoriesAmong(top: string, tracked: readonly string[], files: readonly string[]): string[] {
  const others = files.filter((file) => !file.endsWith('/')).map((file) => Buffer.from(file).toString('latin1'));
  const root = Buffer.from(`${top}/`);
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
