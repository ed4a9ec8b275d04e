/** The parts of ending worktrees that one and many have in common. */
import { Handoffs, type WithHandoffs } from '../handoffs/handoffs.js';
import { insideOf } from '../look/inWorktrees.js';
import type { Locating } from '../look/standing.js';
import type { Surroundings } from '../sessions/surroundings.js';
import { backLines, cutOffLines } from '../show/endWords.js';
import { worktreeAt } from '../workspaces/workspace.js';
import { type Ended, endWorktree, finishWorktree } from '../worktrees/end.js';
import { type Examined, examine, type Wanted } from '../worktrees/examine.js';
import { findWorktrees } from '../worktrees/list.js';
import { type RepositoryPlace, stayingFolder } from '../worktrees/place.js';
import type { Way } from '../worktrees/reasons.js';
import { cutOffRemovals, finishing, type Removal, removedWorktrees, runningRemovals } from '../worktrees/records.js';
import { takeBack } from '../worktrees/removal.js';
import { wayBack } from '../worktrees/wayBack.js';
import { type Worktree, worktreesNamed } from '../worktrees/worktree.js';
import { type Around, offeredIn } from './againstEnding.js';
import { squashMessage } from './squashMessage.js';
import { unanswered } from './unanswered.js';
import type { Door } from './verb.js';

export function allOf({ process, variables }: Surroundings, place: RepositoryPlace): Worktree[] {
  const found = findWorktrees(place, process, variables);
  if (found === null) throw unanswered(place, variables);
  return found;
}

export function examinedOf(
  { variables }: Surroundings,
  place: RepositoryPlace,
  wanted: readonly Wanted[],
  worktrees: readonly Worktree[],
): Examined[] {
  const found = examine(place, wanted, worktrees, variables);
  if (found === null) throw unanswered(place, variables);
  return found;
}

export interface Finished {
  readonly removal: Removal;
  readonly way_back: readonly string[];
  /** The step that failed, and why; null if all are done. */
  readonly fault: string | null;
  readonly lines: readonly string[];
  readonly asides: readonly string[];
}

/**
 * @param worktrees all that there are
 * @returns a worktree of that name that is removed already, the last one; null if there is one, or none was
 */
export function removedNamed(
  { directory }: Surroundings,
  place: RepositoryPlace,
  name: string,
  worktrees: readonly Worktree[],
): Finished | null {
  if (worktreesNamed(worktrees, name, directory).length > 0) return null;
  const removed = removedWorktrees(place.common);
  const [found] = worktreesNamed(removed.map(asWorktree), name, directory);
  const removal = removed.find(({ path, branch }) => found?.path === path && found.branch === branch);
  if (removal === undefined) return null;
  const way_back = wayBack(removal, stayingFolder(place));
  const lines = [`${removal.name} is removed already`, ...backLines(way_back)];
  return { removal, way_back, fault: null, lines, asides: [] };
}

/**
 * Finishes a removal that was cut off, or says that another process is doing it.
 * @param isRemote whether the remote branch is to go
 * @param way what was typed; null if it is finished as it was begun
 * @returns null if there is none of that name, or it had not really begun
 */
export function finishNamed(
  { directory, variables, process: here }: Surroundings,
  place: RepositoryPlace,
  { name, isRemote, way }: { readonly name: string; readonly isRemote: boolean; readonly way: Way | null },
): Finished | null {
  const running = runningRemovals(place.common, here);
  const [busy] = worktreesNamed(running.map(asWorktree), name, directory);
  const other = running.find(({ path, branch }) => busy?.path === path && busy.branch === branch);
  if (other !== undefined) {
    const fault = `${other.name}: the process ${other.by?.pid} is removing it`;
    return { removal: other, way_back: [], fault, lines: [fault], asides: [] };
  }
  const cut = cutOffRemovals(place.common, here);
  const [found] = worktreesNamed(cut.map(asWorktree), name, directory);
  const removal = cut.find(({ path, branch }) => found?.path === path && found.branch === branch);
  if (removal === undefined) return null;
  const nothingDone = { asides: [], removal };
  const taken = removal.is_confirmed ? null : { fault: takeBack(place.common, removal), ...nothingDone };
  if (taken !== null && taken.fault === null) return null;
  const wanted = { isRemote, keepsBranch: way === 'keep_branch' };
  const ended = taken ??
    finishWorktree(place, removal, wanted, variables) ?? { fault: 'git does not answer', ...nothingDone };
  const { fault, asides } = ended;
  const done = `${removal.name}: the removal that was cut off is finished`;
  const way_back = wayBack(ended.removal, stayingFolder(place), fault !== null);
  const { kept } = removal;
  const lines =
    fault === null
      ? [done, ...backLines(way_back)]
      : cutOffLines({ name: removal.name, fault, kept, way_back, finished_by: finishing(ended.removal) });
  return { removal, way_back, fault, lines, asides };
}

function asWorktree({ path, branch, folder }: Removal): Worktree {
  const none = { is_main: false, operation: null, lock: null, created_at: null, ghost: null };
  return { path, branch, folder, ...none };
}

export async function aroundOf(
  memory: Locating & WithHandoffs,
  place: RepositoryPlace,
  worktrees: readonly Worktree[],
  door: Door,
) {
  const inside = await insideOf(memory, worktrees, door.judge);
  const bridge = (await door.bridgeWork?.()) ?? { work: [], unasked: null };
  const home = stayingFolder(place);
  const around: Around = {
    inside,
    bridge: bridge.work,
    offered: offeredIn(new Handoffs(memory.shared)),
    worktrees,
    home,
  };
  const isSeen = [...inside.values()].every(({ processes }) => processes !== null);
  const asides = [
    ...(isSeen ? [] : ['this host does not show where processes work, so none was looked for']),
    ...(process.geteuid?.() === 0 ? [] : ['processes of other users are not seen']),
    ...(bridge.unasked === null ? [] : [`its bridge was not asked: ${bridge.unasked}`]),
  ];
  return { around, asides: asides.map(memory.stamp.redact) };
}

export interface EndOne {
  readonly examined: Examined;
  readonly worktrees: readonly Worktree[];
  /** Null if it is to be made of the sessions. */
  readonly message: string | null;
  readonly isRemote: boolean;
}

export async function endOne(memory: Locating, place: RepositoryPlace, one: EndOne): Promise<Ended> {
  const { examined, worktrees, isRemote } = one;
  const { name, target, way, merged } = examined;
  const { path } = examined.worktree;
  const into = way === 'merge' && merged?.merged !== 'yes' ? target?.commit : undefined;
  const message = into === undefined ? '' : (one.message ?? (await squashMessage(memory, { path, name, into })));
  const { variables } = memory.surroundings;
  const ending = {
    ...{ examined, worktrees, message, is_remote_removed: isRemote },
    ...{ removed_days: memory.settings.removed_days, now: memory.clock.now(), by: memory.surroundings.process },
  };
  const workspace = memory.claims.find(worktreeAt(path).id);
  if (workspace !== null) memory.claims.worktrees.note(workspace);
  const ended = endWorktree(place, ending, variables);
  if (ended === null) throw unanswered(place, variables);
  return ended;
}
