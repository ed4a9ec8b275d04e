import { dirname, join, resolve } from 'node:path';
import { readPlainFileSync } from '../../../src/files/plainFile.js';
import { realOf } from './mounts.js';

const LINK = 'gitdir: ';
const LONGEST_BYTES = 8 * 1024;

/**
 * A linked worktree keeps its commits in the repository that it was made from, so an agent that commits there must write to it.
 * The file `.git` in the worktree is the agent's to change; what proves that the two belong together is the link back, which
 * lies in the repository.
 * @param directory a real path
 * @returns the git folder of the repository; null if the directory is no linked worktree
 */
export function linkedRepository(directory: string): string | null {
  const file = join(directory, '.git');
  const link = lineOf(file);
  if (link === null || !link.startsWith(LINK)) return null;
  const own = realOf(resolve(directory, link.slice(LINK.length)));
  if (own === null || !dirname(own).endsWith('/worktrees')) return null;
  const back = lineOf(join(own, 'gitdir'));
  return back !== null && realOf(back) === file ? dirname(dirname(own)) : null;
}

/** The agent may have put anything there. */
function lineOf(path: string): string | null {
  try {
    return readPlainFileSync(path, LONGEST_BYTES).trimEnd();
  } catch {
    return null;
  }
}
