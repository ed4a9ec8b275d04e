/** `worktree end`: names everything that speaks against it; if nothing does, keeps, merges and removes. */
import { UsageError } from '../../src/errors.js';
import { insideOf } from '../look/inWorktrees.js';
import type { Memory } from '../sessions/memory.js';
import { endedLines, endedValue, reasonLines, reasonsValue } from '../show/endWords.js';
import { type Ended, endWorktree } from '../worktrees/end.js';
import { type Examined, examine, type Wanted } from '../worktrees/examine.js';
import { findWorktrees } from '../worktrees/list.js';
import { hasCheckout, type RepositoryPlace } from '../worktrees/place.js';
import type { Reason, Way } from '../worktrees/reasons.js';
import { cutOffRemovals, finishRemoval, type Removal, takeBack } from '../worktrees/removal.js';
import { type Worktree, worktreesNamed } from '../worktrees/worktree.js';
import { type Around, offeredIn, reasonsAround } from './againstEnding.js';
import { flag, option, word } from './fields.js';
import { squashMessage } from './squashMessage.js';
import { type Door, type Outcome, verb } from './verb.js';
import { placeOf, unanswered, worktreeAmong } from './worktrees.js';

export const end = verb({
  name: 'end',
  summary:
    'removes a worktree, or says everything that speaks against it. --merge: as\none commit; --keep-branch: the folder only. `end --merged`: all merged ones,\nonly shown without --yes. What no branch has is kept, with the way back',
  fields: {
    name: word('NAME'),
    merge: flag('--merge|'),
    discard: option('--discard NAME|'),
    keep_branch: flag('--keep-branch'),
    into: option('\n      [--into BRANCH]'),
    message: option('[--message TEXT]'),
    remote: flag('[--remote]'),
    merged: flag('\n  end --merged'),
    yes: flag('[--yes]'),
  },
  async run(memory, input, door): Promise<Outcome> {
    const asked = askedOf(input);
    const place = placeOf(memory);
    if (asked === 'merged') return endMerged(memory, place, input.yes, door);
    const finished = finishNamed(memory, place, asked.name);
    if (finished !== null) return finished;
    const worktrees = allOf(memory, place);
    const worktree = worktreeAmong(worktrees, asked.name, memory.surroundings.directory);
    if (worktree.is_main) throw new UsageError(`${worktree.path} is the main checkout, which stays`);
    const [examined] = examinedOf(memory, place, [{ worktree, way: asked.way, into: asked.into }], worktrees);
    if (examined === undefined) throw unanswered(place);
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
    const { redact } = memory.stamp;
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
    return outcomeOf(memory, examined, ended, [...asides, ...lockAsides(worktree)]);
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

function allOf({ surroundings }: Memory, place: RepositoryPlace): Worktree[] {
  const found = findWorktrees(place, surroundings.process, surroundings.variables);
  if (found === null) throw unanswered(place);
  return found;
}

function examinedOf(
  { surroundings }: Memory,
  place: RepositoryPlace,
  wanted: readonly Wanted[],
  worktrees: readonly Worktree[],
): Examined[] {
  const found = examine(place, wanted, worktrees, surroundings.variables);
  if (found === null) throw unanswered(place);
  return found;
}

/** A removal that was cut off: what is left to do of it. @returns null if there is none of that name */
function finishNamed(memory: Memory, place: RepositoryPlace, name: string): Outcome | null {
  const { directory, variables } = memory.surroundings;
  const cut = cutOffRemovals(place.common);
  const [found] = worktreesNamed(cut.map(asWorktree), name, directory);
  const removal = cut.find(({ path, branch }) => found?.path === path && found.branch === branch);
  if (removal === undefined || takeBack(place.common, removal)) return null;
  const { fault, asides } = finishRemoval(place.common, removal, variables);
  const { redact } = memory.stamp;
  const lines = [
    ...(fault === null ? [`${removal.name}: the removal that was cut off is finished`] : [fault]),
    ...backLines(removal.way_back),
  ];
  return {
    value: { name: removal.name, path: removal.path, removed: fault === null, fault, way_back: removal.way_back },
    lines: lines.map(redact),
    asides: asides.map(redact),
    ...(fault !== null && { verdict: 'partial' as const }),
  };
}

function asWorktree({ path, branch, folder }: Removal): Worktree {
  const none = { is_main: false, operation: null, lock: null, created_at: null, ghost: null };
  return { path, branch, folder, ...none };
}

function backLines(commands: readonly string[]): string[] {
  return commands.length === 0 ? [] : ['the way back:', ...commands.map((command) => `  ${command}`)];
}

async function aroundOf(memory: Memory, place: RepositoryPlace, worktrees: readonly Worktree[], door: Door) {
  const inside = insideOf(memory, worktrees);
  const bridge = (await door.bridgeWork?.()) ?? { work: [], unasked: null };
  const home = hasCheckout(place) ? place.home : place.common;
  const around: Around = { inside, bridge: bridge.work, offered: offeredIn(memory), worktrees, home };
  const isSeen = [...inside.values()].every(({ processes }) => processes !== null);
  const asides = [
    ...(isSeen ? [] : ['this host does not show where processes work, so none was looked for']),
    ...(process.geteuid?.() === 0 ? [] : ['processes of other users are not seen']),
    ...(bridge.unasked === null ? [] : [`its bridge was not asked: ${bridge.unasked}`]),
  ];
  return { around, asides: asides.map(memory.stamp.redact) };
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

interface EndOne {
  readonly examined: Examined;
  readonly worktrees: readonly Worktree[];
  /** Null if it is to be made of the sessions. */
  readonly message: string | null;
  readonly isRemote: boolean;
}

async function endOne(memory: Memory, place: RepositoryPlace, one: EndOne): Promise<Ended> {
  const { examined, worktrees, isRemote } = one;
  const { path } = examined.worktree;
  const isMerged = examined.way === 'merge' && examined.merged?.merged !== 'yes';
  const message = isMerged ? (one.message ?? (await squashMessage(memory, path, examined.name))) : '';
  const { variables } = memory.surroundings;
  const ending = {
    ...{ examined, worktrees, message, is_remote_removed: isRemote },
    ...{ removed_days: memory.settings.removed_days, now: memory.clock.now() },
  };
  const ended = endWorktree(place, ending, variables);
  if (ended === null) throw unanswered(place);
  return ended;
}

function outcomeOf({ stamp }: Memory, examined: Examined, ended: Ended, asides: readonly string[]): Outcome {
  const said = [...asides, ...ended.asides].map(stamp.redact);
  return {
    value: endedValue(examined, ended),
    lines: endedLines(examined, ended).map(stamp.redact),
    asides: said,
    ...(ended.fault !== null && { verdict: 'found' as const }),
  };
}

/** All that are merged and have nothing against them go; the others stay, and it is said why. */
async function endMerged(memory: Memory, place: RepositoryPlace, isMeant: boolean, door: Door): Promise<Outcome> {
  const { redact } = memory.stamp;
  for (const removal of cutOffRemovals(place.common)) if (isMeant) finishNamed(memory, place, removal.path);
  const worktrees = allOf(memory, place);
  const linked = worktrees.filter(({ is_main, ghost }) => !is_main && ghost === null);
  const wanted = linked.map((worktree) => ({ worktree, way: 'merge' as const, into: null }));
  const examined = examinedOf(memory, place, wanted, worktrees);
  const merged = examined.filter((each) => each.merged?.merged === 'yes');
  const { around, asides } = await aroundOf(memory, place, worktrees, door);
  const judged = merged.map((each) => ({
    examined: each,
    reasons: [...reasonsAround(memory, each.worktree, around), ...each.reasons],
  }));
  const safe = judged.filter(({ reasons }) => reasons.length === 0).map((each) => each.examined);
  const staying = judged.filter(({ reasons }) => reasons.length > 0);
  const stayLines = staying.flatMap((each) => reasonLines(each.examined, each.reasons));
  const unmerged = examined.length - merged.length;
  const rest = unmerged === 0 ? [] : [`not merged, and untouched: ${unmerged}`];
  const stays = staying.map((each) => reasonsValue(each.examined, each.reasons));
  if (!isMeant) {
    const names = safe.map(({ name, worktree }) => `merged, and nothing speaks against it: ${name} (${worktree.path})`);
    const hint =
      safe.length === 0 ? ['no worktree can go'] : [`nothing was removed: add --yes to remove ${safe.length}`];
    return {
      value: { safe: safe.map(({ name, worktree }) => ({ name, path: worktree.path })), stays, unmerged },
      lines: [...names, ...stayLines, ...rest, ...hint].map(redact),
      asides,
      ...(safe.length > 0 && { verdict: 'found' as const }),
    };
  }
  const results: { readonly examined: Examined; readonly ended: Ended }[] = [];
  for (const each of safe) {
    const ended = await endOne(memory, place, { examined: each, worktrees, message: null, isRemote: false });
    results.push({ examined: each, ended });
  }
  const isFault = results.some(({ ended }) => ended.fault !== null);
  return {
    value: { ended: results.map((each) => endedValue(each.examined, each.ended)), stays, unmerged },
    lines: [...results.flatMap((each) => endedLines(each.examined, each.ended)), ...stayLines, ...rest].map(redact),
    asides: [...asides, ...results.flatMap(({ ended }) => ended.asides.map(redact))],
    ...(isFault && { verdict: 'found' as const }),
  };
}
