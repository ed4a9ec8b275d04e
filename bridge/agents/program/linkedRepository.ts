import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readPlainFileSync } from '../../../src/files/plainFile.js';
import { isWithin, type Mount, realOf } from './mounts.js';

const LINK = 'gitdir: ';
const LONGEST_BYTES = 8 * 1024;
/** The entries that every git folder has. */
const PARTS = ['HEAD', 'objects', 'refs'];
/** Entries that name programs that git runs for the repository's next user, and those that belong to its other worktrees. */
const KEPT = ['config', 'config.worktree', 'hooks', 'modules', 'worktrees'];

/**
 * A linked worktree keeps its commits in the repository that it was made from, so an agent that commits there must write to it.
 * The file `.git` in the worktree is the agent's to change. The link back proves that the two belong together: it lies in a
 * folder where no agent can write.
 * @param directory a real path
 * @param ofAgents real paths of all folders where agents may write without being given this repository
 * @returns mounts of the repository; none if the directory is no linked worktree
 */
export function linkedRepository(directory: string, ofAgents: readonly string[]): Mount[] {
  const link = lineOf(join(directory, '.git'));
  const own = link?.startsWith(LINK) ? realOf(resolve(directory, link.slice(LINK.length))) : null;
  if (own === null || basename(dirname(own)) !== 'worktrees') return [];
  const common = dirname(dirname(own));
  if (ofAgents.some((folder) => isWithin(folder, own) || isWithin(common, folder))) return [];
  const [back, shared] = [lineOf(join(own, 'gitdir')), lineOf(join(own, 'commondir'))];
  if (back === null || realOf(resolve(own, back)) !== join(directory, '.git')) return [];
  if (shared === null || realOf(resolve(own, shared)) !== common) return [];
  if (!PARTS.every((part) => existsSync(join(common, part)))) return [];
  const mount = (how: Mount['how'], path: string): Mount => ({ how, source: path, path });
  const kept = KEPT.map((part) => join(common, part)).filter((path) => realOf(path) === path);
  return [mount('--bind', common), ...kept.map((path) => mount('--ro-bind', path)), mount('--bind', own)];
}

/** The agent may have put anything there. */
function lineOf(path: string): string | null {
  try {
    return readPlainFileSync(path, LONGEST_BYTES).trimEnd();
  } catch {
    return null;
  }
}
