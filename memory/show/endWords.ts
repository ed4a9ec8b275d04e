/** Words about a worktree that is to go: the reasons against it, or what became of it. */
import { counted } from '../../src/counted.js';
import { shortCommit } from '../git/checkout.js';
import type { Ended } from '../worktrees/end.js';
import type { Examined } from '../worktrees/examine.js';
import type { Reason } from '../worktrees/reasons.js';

export function reasonsValue({ name, worktree }: Examined, reasons: readonly Reason[]) {
  return { name, path: worktree.path, removed: false, reasons };
}

export function reasonLines({ name }: Examined, reasons: readonly Reason[]): string[] {
  return [
    `${name} stays, and nothing was changed: ${counted(reasons.length, 'reason')}`,
    ...reasons.flatMap(({ words, remedy }) => [`- ${words}`, `    → ${remedy}`]),
  ];
}

export function endedValue({ name, worktree, target, merged, ignored }: Examined, ended: Ended) {
  const { fault, kept, commit, branch_removed, way_back } = ended;
  return {
    ...{ name, path: worktree.path, removed: fault === null, fault },
    ...{ merged_into: target?.branch ?? null, merged: merged?.merged ?? null, commit },
    ...{ branch_removed, ignored_files: ignored, kept, way_back },
  };
}

export function endedLines(examined: Examined, ended: Ended): string[] {
  const { name, worktree, branch, target, merged } = examined;
  const { fault, finished_by, kept, commit, branch_removed, way_back } = ended;
  const behind = target?.behind ? `, with ${counted(target.behind, 'commit')} of ${target.name} that it lacked` : '';
  const mergeWords =
    commit !== null
      ? [`${name}: merged into ${target?.branch} as ${shortCommit(commit)}${behind}`]
      : merged?.merged === 'yes' && target !== null
        ? [`${name}: merged into ${target.name} before`]
        : [];
  if (finished_by !== null && fault !== null)
    return [...mergeWords, ...cutOffLines({ name, fault, kept, way_back, finished_by })];
  const keptLines = kept === null ? [] : [`kept: ${kept}`];
  if (fault !== null) return [...mergeWords, `${name} is not removed: ${fault}`, ...keptLines];
  const gone = branch_removed ? ` and the branch ${branch}` : '';
  return [
    ...mergeWords,
    `removed: ${worktree.path}${ignoredWords(examined)}${gone}`,
    ...keptLines,
    ...backLines(way_back),
  ];
}

interface CutOff extends Pick<Ended, 'kept' | 'way_back'> {
  readonly name: string;
  /** The file that cannot be deleted, and why. */
  readonly fault: string;
  readonly finished_by: string;
}

/** @returns why a removal has stopped half-way, and what a person can do: bring it back, or finish it */
export function cutOffLines({ name, fault, kept, way_back, finished_by }: CutOff): string[] {
  return [
    `${name} is not removed whole: ${fault}`,
    ...(kept === null ? [] : [`kept: ${kept}`]),
    ...backLines(way_back),
    `once that is put right, this removes the rest: \`${finished_by}\``,
  ];
}

/** @param commands one after the other, for a shell */
export function backLines(commands: readonly string[]): string[] {
  return commands.length === 0 ? [] : ['the way back:', ...commands.map((command) => `  ${command}`)];
}

function ignoredWords({ ignored }: Examined): string {
  if (ignored === null) return ', with its ignored files';
  return ignored === 0 ? '' : `, with ${counted(ignored, 'ignored file')}`;
}
