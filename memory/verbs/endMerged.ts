/** `worktree end --merged`: all that are merged and have nothing against them. */

import { counted } from '../../src/counted.js';
import { UnreachableError } from '../../src/errors.js';
import type { Redact } from '../../src/log/redact.js';
import { shellWord } from '../../src/log/shellWords.js';
import { DAY } from '../../src/time.js';
import type { WithHandoffs } from '../handoffs/handoffs.js';
import type { Locating } from '../look/standing.js';
import { endedLines, endedValue, reasonLines, reasonsValue } from '../show/endWords.js';
import { ago } from '../show/status.js';
import { whyWords } from '../show/worktreeWords.js';
import type { Ended } from '../worktrees/end.js';
import type { Examined } from '../worktrees/examine.js';
import type { RepositoryPlace } from '../worktrees/place.js';
import type { Reason } from '../worktrees/reasons.js';
import { cutOffRemovals } from '../worktrees/records.js';
import { isUntouched } from '../worktrees/reflog.js';
import type { Worktree } from '../worktrees/worktree.js';
import { type Around, reasonsAround } from './againstEnding.js';
import { allOf, aroundOf, endOne, examinedOf, type Finished, finishNamed } from './removeWorktrees.js';
import type { Door, Outcome } from './verb.js';

/** A worktree without a commit of its own is left alone for so long after it was made. */
const UNUSED_MS = DAY;

interface Judged {
  readonly safe: readonly Examined[];
  /** Worktrees that are merged, or that git does not say enough about, with the reasons against each. */
  readonly staying: readonly { readonly examined: Examined; readonly reasons: readonly Reason[] }[];
  /** How many are not merged, as far as is known. */
  readonly unmerged: number;
  /** How many of these git cannot classify. */
  readonly unknown: number;
}

/**
 * All that are merged and have nothing against them go; the others stay, and it is said why.
 * @param isAgreed whether they are to go; else they are only shown, and a person at a terminal is asked
 */
export async function endMerged(
  memory: Locating & WithHandoffs,
  place: RepositoryPlace,
  isAgreed: boolean,
  door: Door,
): Promise<Outcome> {
  const cutOff = isAgreed ? cutOffRemovals(place.common, memory.surroundings.process) : [];
  const finished = cutOff.flatMap(
    ({ path }) => finishNamed(memory.surroundings, place, { name: path, isRemote: false, way: null }) ?? [],
  );
  const worktrees = allOf(memory.surroundings, place);
  const { around, asides } = await aroundOf(memory, place, worktrees, door);
  const judged = judge(memory, place, around);
  if (isAgreed) return removeSafe(memory, place, { judged, worktrees, finished, asides });
  const agreed = judged.safe.length === 0 ? null : await askAbout(memory, judged, door);
  // It is judged again: the person may have thought about it for long.
  if (agreed === true) return endMerged(memory, place, true, door);
  if (agreed === false) return { verdict: 'refused', value: null, lines: 'nothing was removed' };
  return { ...shown(judged, memory.stamp.redact), asides };
}

/** @returns null if no person can be asked */
async function askAbout(memory: Locating, judged: Judged, door: Door): Promise<boolean | null> {
  const lines = [...safeLines(judged), ...stayingLines(judged)].map(memory.stamp.redact);
  return (await door.agrees?.(lines, `remove ${counted(judged.safe.length, 'worktree')}?`)) ?? null;
}

function shown(judged: Judged, redact: Redact): Outcome {
  const { safe, unmerged, unknown } = judged;
  const hint = safe.length === 0 ? 'no worktree can go' : `nothing was removed: add --yes to remove ${safe.length}`;
  return {
    value: {
      safe: safe.map(({ name, worktree }) => ({ name, path: worktree.path })),
      ...{ stays: stays(judged), unmerged, unknown },
    },
    lines: [...safeLines(judged), ...stayingLines(judged), hint].map(redact),
    ...(safe.length > 0 && { verdict: 'found' as const }),
  };
}

interface Removing {
  readonly judged: Judged;
  readonly worktrees: readonly Worktree[];
  /** Removals that were cut off before, and are finished. */
  readonly finished: readonly Finished[];
  readonly asides: readonly string[];
}

async function removeSafe(
  memory: Locating & WithHandoffs,
  place: RepositoryPlace,
  { judged, worktrees, finished, asides }: Removing,
): Promise<Outcome> {
  const { redact } = memory.stamp;
  const results: { readonly examined: Examined; readonly ended: Ended }[] = [];
  for (const examined of judged.safe) {
    const ended = await endOne(memory, place, { examined, worktrees, message: null, isRemote: false });
    results.push({ examined, ended });
  }
  const lines = [
    ...finished.flatMap((each) => each.lines),
    ...results.flatMap((each) => endedLines(each.examined, each.ended)),
  ];
  const all = [...finished, ...results.map(({ ended }) => ended)];
  return {
    value: {
      ended: results.map((each) => endedValue(each.examined, each.ended)),
      ...{ stays: stays(judged), unmerged: judged.unmerged, unknown: judged.unknown },
    },
    lines: [...(lines.length === 0 ? ['no worktree can go'] : lines), ...stayingLines(judged)].map(redact),
    asides: [...asides, ...all.flatMap((each) => each.asides.map(redact))],
    ...(all.some(({ fault }) => fault !== null) && { verdict: 'found' as const }),
  };
}

function safeLines({ safe }: Judged): string[] {
  return safe.map(({ name, worktree, merged }) => {
    const why = merged === null ? '' : `: ${whyWords(merged)}`;
    return `merged, and nothing speaks against it: ${name} (${worktree.path})${why}`;
  });
}

function stayingLines({ staying, unmerged, unknown }: Judged): string[] {
  const open = unmerged - unknown;
  return [
    ...staying.flatMap(({ examined, reasons }) => reasonLines(examined, reasons)),
    ...(open === 0 ? [] : [`not merged, and untouched: ${open}`]),
    ...(unknown === 0 ? [] : [`git cannot say whether they are merged, and untouched: ${unknown}`]),
  ];
}

function stays({ staying }: Judged) {
  return staying.map(({ examined, reasons }) => reasonsValue(examined, reasons));
}

/** @throws UnreachableError if git does not say which branch is the default one */
function judge(memory: Locating, place: RepositoryPlace, around: Around): Judged {
  const { worktrees } = around;
  const linked = worktrees.filter(({ is_main, ghost }) => !is_main && ghost === null);
  const wanted = linked.map((worktree) => ({ worktree, way: 'merge' as const, into: null, is_merged_only: true }));
  const known = examinedOf(memory.surroundings, place, wanted, worktrees);
  const [silent] = known.flatMap(({ reasons, is_base_unanswered }) => (is_base_unanswered ? reasons : []));
  if (silent !== undefined) throw new UnreachableError(memory.stamp.redact(`${silent.words}: ${silent.remedy}`));
  const open = known.flatMap(({ merged }) => (merged === null || merged.merged === 'yes' ? [] : [merged.merged]));
  const others = known.filter(
    ({ merged, reasons }) => merged?.merged === 'yes' || (merged === null && !isBase(reasons)),
  );
  const judged = others.map((examined) => {
    const reasons = [...reasonsAround(memory, examined.worktree, around), ...examined.reasons];
    return { examined, reasons: reasons.length > 0 ? reasons : unusedReasons(examined, memory.clock.now()) };
  });
  return {
    safe: judged.filter(({ reasons }) => reasons.length === 0).map(({ examined }) => examined),
    staying: judged.filter(({ reasons }) => reasons.length > 0),
    unmerged: open.length,
    unknown: open.filter((merged) => merged === 'unknown').length,
  };
}

/** An agent or a person may be about to begin in it: its commit is merged only because it has none of its own. */
function unusedReasons({ name, worktree: { created_at, folder } }: Examined, now: number): Reason[] {
  if (created_at === null || folder === null || now - created_at > UNUSED_MS || !isUntouched(folder)) return [];
  const words = `it was made ${ago(now - created_at)}, and nothing has been committed in it`;
  const remedy = `if it is not needed: \`watchkeeper worktree end ${shellWord(name)} --merge\``;
  return [{ reason: 'unused', words, remedy }];
}

/** The default branch itself is never merged and never removed. */
function isBase(reasons: readonly Reason[]): boolean {
  return reasons.some(({ reason }) => reason === 'default_branch');
}
