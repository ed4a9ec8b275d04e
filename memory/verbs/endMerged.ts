/** `worktree end --merged`: all that are merged and have nothing against them. */
import { counted } from '../../src/counted.js';
import type { Memory } from '../sessions/memory.js';
import { endedLines, endedValue, reasonLines, reasonsValue } from '../show/endWords.js';
import type { Ended } from '../worktrees/end.js';
import type { Examined } from '../worktrees/examine.js';
import type { RepositoryPlace } from '../worktrees/place.js';
import type { Reason } from '../worktrees/reasons.js';
import { cutOffRemovals } from '../worktrees/records.js';
import { type Around, reasonsAround } from './againstEnding.js';
import { allOf, aroundOf, endOne, examinedOf, finishNamed } from './removeWorktrees.js';
import type { Door, Outcome } from './verb.js';

interface Judged {
  readonly safe: readonly Examined[];
  /** Those that are merged, with what speaks against each. */
  readonly staying: readonly { readonly examined: Examined; readonly reasons: readonly Reason[] }[];
  /** How many are not merged. */
  readonly unmerged: number;
}

/** All that are merged and have nothing against them go; the others stay, and it is said why. */
export async function endMerged(
  memory: Memory,
  place: RepositoryPlace,
  isMeant: boolean,
  door: Door,
): Promise<Outcome> {
  const { redact } = memory.stamp;
  const cutOff = isMeant ? cutOffRemovals(place.common, memory.surroundings.process) : [];
  const finished = cutOff.flatMap(({ path }) => finishNamed(memory, place, { name: path, isRemote: false }) ?? []);
  const worktrees = allOf(memory, place);
  const { around, asides } = await aroundOf(memory, place, worktrees, door);
  const { safe, staying, unmerged } = judge(memory, place, around);
  const stays = staying.map(({ examined, reasons }) => reasonsValue(examined, reasons));
  const rest = [
    ...staying.flatMap(({ examined, reasons }) => reasonLines(examined, reasons)),
    ...(unmerged === 0 ? [] : [`not merged, and untouched: ${unmerged}`]),
  ];
  if (!isMeant) {
    const names = safe.map(({ name, worktree }) => `merged, and nothing speaks against it: ${name} (${worktree.path})`);
    const question = `remove ${counted(safe.length, 'worktree')}?`;
    const agreed =
      safe.length === 0 ? null : ((await door.agrees?.([...names, ...rest].map(redact), question)) ?? null);
    // It is judged anew: the person may have thought about it for long.
    if (agreed === true) return endMerged(memory, place, true, door);
    if (agreed === false) return { verdict: 'refused', value: null, lines: 'nothing was removed' };
    const hint = safe.length === 0 ? 'no worktree can go' : `nothing was removed: add --yes to remove ${safe.length}`;
    return {
      value: { safe: safe.map(({ name, worktree }) => ({ name, path: worktree.path })), stays, unmerged },
      lines: [...names, ...rest, hint].map(redact),
      asides,
      ...(safe.length > 0 && { verdict: 'found' as const }),
    };
  }
  const results: { readonly examined: Examined; readonly ended: Ended }[] = [];
  for (const examined of safe) {
    const ended = await endOne(memory, place, { examined, worktrees, message: null, isRemote: false });
    results.push({ examined, ended });
  }
  const lines = [
    ...finished.flatMap((each) => each.lines),
    ...results.flatMap((each) => endedLines(each.examined, each.ended)),
  ];
  const isFault = [...finished, ...results.map(({ ended }) => ended)].some(({ fault }) => fault !== null);
  return {
    value: { ended: results.map((each) => endedValue(each.examined, each.ended)), stays, unmerged },
    lines: [...(lines.length === 0 ? ['no worktree can go'] : lines), ...rest].map(redact),
    asides: [
      ...asides,
      ...[...finished, ...results.map(({ ended }) => ended)].flatMap((each) => each.asides.map(redact)),
    ],
    ...(isFault && { verdict: 'found' as const }),
  };
}

function judge(memory: Memory, place: RepositoryPlace, around: Around): Judged {
  const { worktrees } = around;
  const linked = worktrees.filter(({ is_main, ghost }) => !is_main && ghost === null);
  const wanted = linked.map((worktree) => ({ worktree, way: 'merge' as const, into: null }));
  const known = examinedOf(memory, place, wanted, worktrees).filter(({ merged }) => merged !== null);
  const merged = known.filter((each) => each.merged?.merged === 'yes');
  const judged = merged.map((examined) => ({
    examined,
    reasons: [...reasonsAround(memory, examined.worktree, around), ...examined.reasons],
  }));
  return {
    safe: judged.filter(({ reasons }) => reasons.length === 0).map(({ examined }) => examined),
    staying: judged.filter(({ reasons }) => reasons.length > 0),
    unmerged: known.length - merged.length,
  };
}
