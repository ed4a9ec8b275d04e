/** `worktree end`: names everything that speaks against it; if nothing does, keeps, merges and removes. */
import { UsageError } from '../../src/errors.js';
import type { Redact } from '../../src/log/redact.js';
import { endedLines, endedValue, reasonLines, reasonsValue } from '../show/endWords.js';
import type { Ended } from '../worktrees/end.js';
import type { Examined } from '../worktrees/examine.js';
import type { Reason, Way } from '../worktrees/reasons.js';
import type { Worktree } from '../worktrees/worktree.js';
import { reasonsAround } from './againstEnding.js';
import { endMerged } from './endMerged.js';
import { flag, option, word } from './fields.js';
import { allOf, aroundOf, endOne, examinedOf, type Finished, finishNamed, removedNamed } from './removeWorktrees.js';
import { unanswered } from './unanswered.js';
import { type Outcome, verb } from './verb.js';
import { placeOf, worktreeAmong } from './worktrees.js';

export const end = verb({
  name: 'end',
  summary:
    'removes a worktree, or names all that speaks against it. --merge: its\nchange becomes one commit; --keep-branch: only the folder goes.\nend --merged: all merged ones, only shown without --yes.\nWhat no branch has is kept, with the way back',
  fields: {
    name: word('NAME --merge|--discard NAME|--keep-branch'),
    merge: flag(''),
    discard: option(''),
    keep_branch: flag(''),
    into: option('\n      [--into BRANCH]'),
    message: option('[--message TEXT]'),
    remote: flag('[--remote]'),
    merged: flag('\n  end --merged'),
    yes: flag('[--yes]'),
  },
  async run(memory, input, door): Promise<Outcome> {
    const asked = askedOf(input);
    const { surroundings } = memory;
    const { redact } = memory.stamp;
    const place = placeOf(surroundings);
    if (asked === 'merged') return endMerged(memory, place, input.yes, door);
    const finished = finishNamed(surroundings, place, asked);
    if (finished !== null) return finishedOutcome(finished, redact);
    const worktrees = allOf(surroundings, place);
    const removed = removedNamed(surroundings, place, asked.name, worktrees);
    if (removed !== null) return finishedOutcome(removed, redact);
    const worktree = worktreeAmong(worktrees, asked.name, surroundings.directory);
    if (worktree.is_main) throw new UsageError(`${worktree.path} is the main checkout, which stays`);
    const [examined] = examinedOf(
      surroundings,
      place,
      [{ worktree, way: asked.way, into: asked.into, is_merged_only: false }],
      worktrees,
    );
    if (examined === undefined) throw unanswered(place, surroundings.variables);
    if (asked.way === 'keep_branch' && examined.branch === null && examined.tip !== null)
      throw new UsageError(
        `${worktree.path} has no branch checked out that could be kept: make one there, or say --discard`,
      );
    const { around, asides } = await aroundOf(memory, place, worktrees, door);
    const reasons = [
      ...reasonsAround(memory, worktree, around),
      ...examined.reasons,
      ...(asked.typed === null ? [] : nameReasons(examined, asked.typed)),
    ];
    if (reasons.length > 0)
      return {
        verdict: 'found',
        value: reasonsValue(examined, reasons),
        lines: reasonLines(examined, reasons).map(redact),
        asides,
      };
    const ended = await endOne(memory, place, {
      examined,
      worktrees,
      message: asked.message,
      isRemote: asked.isRemote,
    });
    return outcomeOf(examined, ended, [...asides, ...lockAsides(worktree)], redact);
  },
});

interface Asked {
  readonly name: string;
  readonly way: Way;
  readonly typed: string | null;
  readonly into: string | null;
  readonly message: string | null;
  readonly isRemote: boolean;
}

interface Given {
  readonly name?: string | undefined;
  readonly merge: boolean;
  readonly discard?: string | undefined;
  readonly keep_branch: boolean;
  readonly into?: string | undefined;
  readonly message?: string | undefined;
  readonly remote: boolean;
  readonly merged: boolean;
}

/** @throws UsageError if it does not say what to do, or two things */
function askedOf({ name, merge, discard, keep_branch, into, message, remote, merged }: Given): Asked | 'merged' {
  const ways: Way[] = [
    ...(merge ? ['merge' as const] : []),
    ...(discard === undefined ? [] : ['discard' as const]),
    ...(keep_branch ? ['keep_branch' as const] : []),
  ];
  const options = 'one of --merge, --discard NAME and --keep-branch';
  if (merged) {
    if (name !== undefined || ways.length > 0 || into !== undefined || message !== undefined || remote)
      throw new UsageError('end --merged takes --yes, and no NAME or other option');
    return 'merged';
  }
  if (name === undefined || name.trim() === '')
    throw new UsageError('end NAME: which worktree? `watchkeeper worktree list` shows all; or say end --merged');
  const [way] = ways;
  if (way === undefined || ways.length > 1) throw new UsageError(`end ${name}: say ${options}`);
  if (way !== 'merge' && (into !== undefined || message !== undefined))
    throw new UsageError('--into and --message are for --merge');
  if (way === 'keep_branch' && remote) throw new UsageError('--remote removes a branch, and --keep-branch keeps it');
  return { name, way, typed: discard ?? null, into: into ?? null, message: message ?? null, isRemote: remote };
}

function finishedOutcome({ removal, way_back, fault, lines, asides }: Finished, redact: Redact): Outcome {
  const { name, path } = removal;
  return {
    value: { name, path, removed: fault === null, fault, way_back },
    lines: lines.map(redact),
    asides: asides.map(redact),
    ...(fault !== null && { verdict: 'found' as const }),
  };
}

/** The name is typed twice, so that nothing is discarded by a slip. */
function nameReasons({ name, branch }: Examined, typed: string): Reason[] {
  const known =
    branch === null ? [name] : [branch, branch.slice(branch.indexOf('/') + 1), branch.replace(/^worktree-/, '')];
  if (known.includes(typed)) return [];
  const words = `--discard names ${JSON.stringify(typed)}, and the worktree is ${name}`;
  return [{ reason: 'name', words, remedy: `if you mean this one: --discard ${name}` }];
}

function lockAsides({ lock }: Worktree): string[] {
  if (lock?.by == null) return [];
  return [`the lock of Claude Code (pid ${lock.by.pid}), which is gone, goes with it`];
}

function outcomeOf(examined: Examined, ended: Ended, asides: readonly string[], redact: Redact): Outcome {
  const said = [...asides, ...ended.asides].map(redact);
  return {
    value: endedValue(examined, ended),
    lines: endedLines(examined, ended).map(redact),
    asides: said,
    ...(ended.fault !== null && { verdict: 'found' as const }),
  };
}
