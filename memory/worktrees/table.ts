/** Asks git about a repository whose refs and their logs are in a table (`reftable`), which only git can read. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutIn } from '../git/checkout.js';
import type { Repository } from '../git/repository.js';
import { isOwnRef } from './own.js';

export type Table = Pick<Repository, 'common' | 'askFolder'>;

const LOCAL = 'refs/heads/';
const REFS = 'refs/';

function isInTable({ common }: Table): boolean {
  return existsSync(join(common, 'reftable'));
}

/**
 * Files say it of most repositories.
 * @param folder git's folder for the worktree
 * @returns the branch that is checked out; null if none is, and undefined if git does not say
 */
export function branchIn(repository: Table, folder: string): string | null | undefined {
  if (!isInTable(repository)) return checkoutIn({ folder, common: repository.common })?.branch ?? null;
  // Unlike `symbolic-ref`, it does not fail where no branch is checked out.
  const name = repository.askFolder(folder, ['branch', '--show-current']);
  return name === null ? undefined : name.trim() || null;
}

/** @returns the objects of `ORIG_HEAD`, `CHERRY_PICK_HEAD` and their like by name, but for those in files; null if git cannot say */
export function specialRefs(repository: Table, folder: string): Map<string, string> | null {
  if (!isInTable(repository)) return new Map();
  const words = ['for-each-ref', '--include-root-refs', '--format=%(refname) %(objectname)'];
  const lines = repository.askFolder(folder, words)?.split('\n');
  if (lines === undefined) return null;
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const [name = '', object = ''] = line.split(' ');
      return object === '' || name === 'HEAD' || name.startsWith(REFS) ? [] : [[name, object]];
    }),
  );
}

/**
 * @param branch whose log counts, too; null if none does
 * @returns the commits of the logs of the worktree, but for those in files; null if git cannot say
 */
export function loggedInTable(repository: Table, folder: string, branch: string | null): string[] | null {
  if (!isInTable(repository)) return [];
  const names = repository.askFolder(folder, ['reflog', 'list'])?.split('\n');
  const own = names?.filter((name) => name === 'HEAD' || name === `${LOCAL}${branch}` || isOwnRef(name));
  const logs = own?.map((name) => repository.askFolder(folder, ['log', '-g', '--format=%H', name, '--']));
  if (logs === undefined) return null;
  return logs.every((log) => log !== null) ? logs.flatMap((log) => log.split('\n')) : null;
}
