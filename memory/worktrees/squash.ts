/** Merges a worktree as one commit: it is made as an object first, and then the target moves to it. */
import { failpoint } from '../../src/failpoints.js';
import { MINUTE } from '../../src/time.js';
import { deedLine, type GitEnd, type GitVariables, ordinaryLine, runGit } from '../git/gitLine.js';
import type { Repository } from '../git/repository.js';

const LIMIT_MS = MINUTE;
/** A checkout of a large repository, with its filters and its hook. */
const MERGE_MS = 10 * MINUTE;
/** How `git config --get` exits if there is no such setting. */
const UNSET = 1;
/** The names without which git makes no commit. */
const IDENTITIES = ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'];

/** The branch that others are merged into. */
export interface Into {
  /** Its name, such as `main`. */
  readonly branch: string;
  /** The local branch; null if there is none yet. */
  readonly local: string | null;
  /** The parent of the merge: the commit of the local branch, or of its remote-tracking branch if that is ahead. */
  readonly commit: string;
  /** The top level of the worktree whose files follow it; null if it is checked out nowhere. */
  readonly root: string | null;
}

/** @returns whether git knows in whose name {@link commitSquash} makes the commit */
export function isAuthorKnown({ common }: Pick<Repository, 'common'>, variables: GitVariables): boolean {
  const said = IDENTITIES.map((name) => runGit(deedLine(common, ['var', name], variables), { limitMs: LIMIT_MS }));
  // Git may have been too slow to say it. The commit says it then.
  return said.every(({ code }) => code === 0 || code === null);
}

/** @returns the commit, or why git did not make it */
export function commitSquash(
  { common }: Pick<Repository, 'common'>,
  { tree, parent, message }: { readonly tree: string; readonly parent: string; readonly message: string },
  variables: GitVariables,
): { readonly commit: string } | { readonly fault: string } {
  const deed = (args: readonly string[], input?: string): GitEnd =>
    runGit(deedLine(common, args, variables), { limitMs: LIMIT_MS, input });
  const signing = deed(['config', '--type=bool', '--get', 'commit.gpgSign']);
  if (signing.code !== 0 && signing.code !== UNSET)
    return { fault: `git does not say whether it is to be signed: ${signing.err.trim() || 'it took too long'}` };
  const isSigned = signing.out.trim() === 'true';
  failpoint('worktree.commit.before');
  const sign = isSigned ? ['-S'] : [];
  const { code, out, err } = deed(['commit-tree', ...sign, '-p', parent, '-F', '-', tree], message);
  failpoint('worktree.commit.after');
  return code === 0 ? { commit: out.trim() } : { fault: err.trim() || 'git took too long' };
}

/**
 * Moves the target if it is still where it was.
 * @returns why it did not move; null if it did
 */
export function moveTarget(
  { common }: Pick<Repository, 'common'>,
  { branch, local, commit: parent, root }: Into,
  commit: string,
  variables: GitVariables,
): string | null {
  const none = '0'.repeat(parent.length);
  const ref = `refs/heads/${branch}`;
  const reason = 'watchkeeper: worktree end --merge';
  failpoint('worktree.target.before');
  const { code, err } =
    root === null
      ? runGit(deedLine(common, ['update-ref', '-m', reason, ref, commit, local ?? none], variables), {
          limitMs: LIMIT_MS,
        })
      : runGit(ordinaryLine(root, fastForward(branch, commit), variables), { limitMs: MERGE_MS });
  failpoint('worktree.target.after');
  return code === 0 ? null : err.trim() || 'git took too long';
}

/** A branch may have options of its own for each merge, such as `--no-commit`. */
function fastForward(branch: string, commit: string): string[] {
  return ['-c', `branch.${branch}.mergeOptions=`, 'merge', '--ff-only', '--no-overwrite-ignore', '--quiet', commit];
}
