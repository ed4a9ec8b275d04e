/** The hooks that git would run when a person commits. */
import { join, resolve } from 'node:path';
import { isExecutable } from '../../src/files/executable.js';
import { SECOND } from '../../src/time.js';
import { type GitVariables, ordinaryLine, runGit } from '../git/gitLine.js';
import type { Repository } from '../git/repository.js';

const LIMIT_MS = 5 * SECOND;
const NAMES = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit'] as const;

/**
 * @param root the top level of the worktree in which they would run
 * @returns the names of those that are there; null if git does not say where they are
 */
export function commitHooks(
  { common }: Pick<Repository, 'common'>,
  root: string,
  variables: GitVariables,
): string[] | null {
  const asked = ['--git-dir', common, 'rev-parse', '--git-path', 'hooks'];
  const { code, out } = runGit(ordinaryLine(root, asked, variables), { limitMs: LIMIT_MS });
  if (code !== 0) return null;
  const folder = resolve(root, out.trimEnd());
  return NAMES.filter((name) => isExecutable(join(folder, name)));
}
