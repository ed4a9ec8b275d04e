/** The commits that an agent made, as git itself says it: `[main 1a2b3c4] Fix the login`. */

import { addTo, type More } from '../fold/bounds.js';

/** Git also says whether a commit is the first one, or has no branch: `[main (root-commit) 1a2b3c4]`, `[detached HEAD 1a2b3c4]`. */
const COMMIT = /^\[[^\]\n]+ ([0-9a-f]{7,40})\] (.+)$/gm;
const COMMITTING = /\bgit\b[^\n]*\bcommit\b/;

export interface Commit {
  readonly at: number;
  readonly head: string;
  readonly subject: string;
}

/** @param output of a call that did not fail */
export function takeCommits(
  { commits, more }: { readonly commits: Commit[]; readonly more: More },
  command: string | null,
  { output, at }: { readonly output: string; readonly at: number },
): void {
  if (command === null || !COMMITTING.test(command)) return;
  for (const [, head = '', subject = ''] of output.matchAll(COMMIT))
    addTo(commits, { at, head, subject }, { more, name: 'commits' });
}

/** @returns whether git says there that it has made a commit */
export function mayNameCommit(output: string): boolean {
  return output.search(COMMIT) >= 0;
}
