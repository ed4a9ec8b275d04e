/** Another commit of this repository, built in a worktree of its own. */
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/host/program.js';

export interface FormerBuild {
  readonly commit: string;
  /** Its compiled command line. */
  readonly main: string;
  remove(): void;
}

/**
 * @param from what git calls a commit
 * @param tree where the worktree comes to lie; nothing may be there
 * @throws Error where there is no such commit, or it does not build
 */
export function buildFormer(from: string, tree: string): FormerBuild {
  const git = (...args: string[]) => execFileSync('git', ['-C', packageRoot(), ...args], { encoding: 'utf8' }).trim();
  const commit = git('rev-parse', '--short', from);
  git('worktree', 'add', '--detach', tree, from);
  const remove = () => void git('worktree', 'remove', '--force', tree);
  try {
    symlinkSync(join(packageRoot(), 'node_modules'), join(tree, 'node_modules'));
    execFileSync(process.execPath, ['build.mjs'], { cwd: tree, stdio: 'inherit' });
  } catch (error) {
    remove();
    throw error;
  }
  return { commit, main: join(tree, 'dist/bridge/cli/main.js'), remove };
}
