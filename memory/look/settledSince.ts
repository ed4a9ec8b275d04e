/** Files that an interrupted agent left in doubt, and that others have finished since: they are no longer in doubt because of it. */

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SHELLS } from '../../src/journal/agentVocabulary.js';
import type { DoubtfulFile } from '../condition/filesInDoubt.js';
import { filesInDoubt, nameIn } from '../condition/filesInDoubt.js';
import type { Worklog } from '../fold/worklog.js';
import { Git } from '../git/git.js';
import { filesInHand } from '../observed/inHand.js';
import type { LooseEnds } from '../observed/looseEnds.js';
import type { Observed } from '../observed/observed.js';
import { observe } from '../observed/sources.js';
import type { Viewer } from '../sessions/views.js';
import type { LeftSession } from '../workspaces/log.js';
import type { Workspace } from '../workspaces/workspace.js';
import { keptElsewhere } from './keptElsewhere.js';
import { markOf } from './marks.js';

/** Other sessions of the directory that are looked at, the last active first. */
const MOST_LOOKED_AT = 20;
/** Sessions whose changes are remembered. */
const MOST_KNOWN = 200;

export interface SettledFile {
  readonly path: string;
  /** `committed`: git has it, in a commit that was made later. */
  readonly how: 'written' | 'deleted' | 'renamed' | 'committed';
  /** The session whose agent did it. Null if it is unknown. */
  readonly by: string | null;
}

/** A session with files in doubt. */
export interface Doubted {
  readonly log: Worklog;
  readonly fold: Observed | null;
  readonly doubtful: readonly DoubtfulFile[];
}

/** Files in doubt, after a look at later work. */
export interface Since {
  /** Those that the agent of another session has changed later, in a turn that ended, or that were committed or deleted later. */
  readonly settled: readonly SettledFile[];
  /** The others. */
  readonly doubtful: readonly DoubtfulFile[];
}

/** @param workspace that has the files */
export async function settledSince(memory: Viewer, doubted: Doubted, workspace: Workspace): Promise<Since> {
  const { log, fold, doubtful } = doubted;
  if (lastSeen(doubted) === null || doubtful.length === 0) return { settled: [], doubtful };
  const left = leftAt(doubted, workspace);
  const open = new Set(doubtful.map(({ path }) => path));
  const settled: SettledFile[] = [];
  const settle = (file: SettledFile) => {
    if (open.delete(file.path)) settled.push(file);
  };
  const first = Math.min(...doubtful.map(({ path }) => left(path)));
  const places = placesOf(memory, doubtful, workspace);
  for (const other of activeSince(memory, places, first, log)) {
    if (open.size === 0) break;
    for (const { at, ...file } of await changedBy(memory, other, workspace)) if (at > left(file.path)) settle(file);
  }
  const rest = doubtful.filter(({ path }) => open.has(path));
  const kept = keptElsewhere(memory, { doubtful: rest, places, root: workspace.root, at: first });
  // A missing directory, such as on a removed disk, does not show that a file was deleted; nor does a stash that has it, or that cannot be asked.
  for (const { path, exists } of existsSync(workspace.root) ? rest : [])
    if (!exists && !kept.has(path) && isKnownWritten(fold, path)) settle({ path, how: 'deleted', by: null });
  const last = Math.max(...[...open].map(left));
  for (const { root } of open.size > 0 ? places : [])
    for (const path of new Git(root, memory.surroundings.variables).committedAfter(last) ?? [])
      settle({ path: nameIn(workspace.root, join(root, path)), how: 'committed', by: null });
  const unsettled = doubtful.filter(({ path }) => open.has(path));
  return { settled, doubtful: unsettled.map((file) => ({ ...file, ...placeIn(kept, file.path) })) };
}

function placeIn(kept: ReadonlyMap<string, string | null>, path: string): { readonly kept_in?: string } {
  const kept_in = kept.get(path) ?? null;
  return kept_in === null ? {} : { kept_in };
}

/** @returns the workspace, and those of the files: the agent may have gone to another worktree */
function placesOf({ claims, surroundings }: Viewer, files: readonly DoubtfulFile[], workspace: Workspace): Workspace[] {
  const folders = new Set(files.map(({ path }) => dirname(resolve(workspace.root, path))));
  const places = [...folders].map((folder) => claims.workspaceOf(folder, surroundings.variables));
  return [...new Map([workspace, ...places].map((place) => [place.id, place])).values()];
}

function lastSeen({ log, fold }: Pick<Doubted, 'log' | 'fold'>): number | null {
  return fold?.lastActivity ?? log.last_activity;
}

/**
 * A conversation that is resumed for a question leaves the file as it was.
 * @returns a function that says when the agent was last seen in the turn that left the file, UTC epoch milliseconds
 */
function leftAt(doubted: Pick<Doubted, 'log' | 'fold'>, { root }: Workspace): (path: string) => number {
  const { log, fold } = doubted;
  const last = lastSeen(doubted) ?? 0;
  const isNow = new Set(fold === null ? [] : filesInHand(fold).map((path) => nameIn(root, path)));
  const turns = fold?.leftTurns.map(({ at, files }) => ({ at, files: files.map((path) => nameIn(root, path)) })) ?? [];
  return (path) => {
    const instants = turns.flatMap(({ at, files }) => (files.includes(path) ? [at] : []));
    const isLeft = instants.length > 0 && !isNow.has(path) && log.files.get(path)?.status !== 'working';
    return isLeft ? Math.max(...instants) : last;
  };
}

/**
 * An agent that began later was told of unfinished work; an older window may have written the same files for another reason. Of a crash
 * that no agent was told of, one may have met a file by chance.
 * @param settled all its files that were in doubt
 * @param ends what else is unfinished; it must be older than the other agent, too
 */
export function isTakenUp(
  memory: Viewer,
  doubted: Omit<Doubted, 'doubtful'>,
  settled: readonly SettledFile[],
  { ends, workspace }: { readonly ends: LooseEnds; readonly workspace: Workspace },
): boolean {
  const { log } = doubted;
  const left = leftAt(doubted, workspace);
  const since = (path: string) => (ends.turn || ends.stopped || ends.failed ? (lastSeen(doubted) ?? 0) : left(path));
  const isKnown = log.told !== null || settled.some(({ path }) => hasBegunAfter(log, left(path)));
  return (
    isKnown && settled.some(({ path, by }) => by !== null && hasBegunAfter(memory.look(by)?.log.state, since(path)))
  );
}

function hasBegunAfter(log: Worklog | undefined, at: number): boolean {
  return log?.runs.some(({ started_at }) => started_at > at) ?? false;
}

/** A file that is gone was deleted since if its agent had written it, and no command that may have deleted it was running. */
function isKnownWritten(fold: Observed | null, path: string): boolean {
  if (fold === null || fold.openCalls().some(({ tool }) => SHELLS.has(tool))) return false;
  const change = fold.files.get(path)?.change;
  return change === 'created' || change === 'modified';
}

interface Other {
  readonly id: string;
  /** As it is noted. Null if it is not: then it may be at work. */
  readonly left: LeftSession | null;
}

/**
 * @param last UTC epoch milliseconds
 * @param log of the session with files in doubt
 * @returns the other sessions of the workspaces that may have been active later: those that are known to have finished its files, or were
 *   given its record; then the last active first. Of one that has ended nothing is noted but that
 */
function activeSince(
  memory: Viewer,
  places: readonly Workspace[],
  last: number,
  { session_id, told }: Worklog,
): Other[] {
  const reads = places.flatMap((place) => memory.claims.read(place) ?? []);
  const likely = reads.flatMap(({ left }) => [...((session_id !== null && left.get(session_id)?.by) || [])]);
  const isLikely = (id: string) => likely.includes(id) || id === told?.session_id;
  const noted = ({ left }: Other) => (left === null ? Number.MAX_SAFE_INTEGER : (left.last_activity ?? last));
  const rank = (other: Other) => (isLikely(other.id) ? Number.POSITIVE_INFINITY : noted(other));
  const others = reads.flatMap(({ sessions, left }) =>
    [...sessions].map((id) => ({ id, left: markOf(memory, id, left.get(id)) })),
  );
  return [...new Map(others.map((other) => [other.id, other])).values()]
    .filter((other) => other.id !== session_id && noted(other) >= last)
    .sort((one, other) => (rank(one) === rank(other) ? (one.id < other.id ? 1 : -1) : rank(other) - rank(one)))
    .slice(0, MOST_LOOKED_AT);
}

interface Changed extends SettledFile {
  /** UTC epoch milliseconds. */
  readonly at: number;
}

/** By memory and session: many sessions may have files in doubt, and each is compared with the same others. */
const known = new WeakMap<object, Map<string, Promise<readonly Changed[]>>>();

/** @returns what the session has finished. What is noted of a session holds, so it is looked at once */
function changedBy(memory: Viewer, { id, left }: Other, workspace: Workspace): Promise<readonly Changed[]> {
  if (left === null) return changesOf(memory, id, workspace);
  const ofMemory = known.get(memory) ?? new Map<string, Promise<readonly Changed[]>>();
  known.set(memory, ofMemory);
  const key = `${id} ${left.at}`;
  const changes = ofMemory.get(key) ?? changesOf(memory, id, workspace);
  if (ofMemory.size >= MOST_KNOWN) ofMemory.clear();
  ofMemory.set(key, changes);
  return changes;
}

async function changesOf(memory: Viewer, id: string, workspace: Workspace): Promise<readonly Changed[]> {
  const session = memory.look(id);
  if (session === null) return [];
  const { folder, log } = session;
  const where = { log: log.state, folder, workspace };
  const { fold } = await observe(where, { folders: memory.programs, redact: memory.stamp.redact });
  const own = new Set(filesInDoubt({ log: log.state, fold }, workspace.root).map(({ path }) => path));
  const declared = [...log.state.files].flatMap(([path, { status, at }]): Changed[] =>
    status === 'done' ? [{ path, how: 'written', by: id, at }] : [],
  );
  const observed = [...(fold?.files ?? [])].flatMap(([path, { change, from, at, rewound }]): Changed[] => {
    if (change === 'read' || rewound) return [];
    const moved: Changed[] = from === null ? [] : [{ path: from, how: 'renamed', by: id, at }];
    return [...moved, { path, how: change === 'deleted' ? 'deleted' : 'written', by: id, at }];
  });
  const byShell = [...(fold?.shell.finished ?? [])].map(
    ([path, at]): Changed => ({ path, how: 'written', by: id, at }),
  );
  return [...observed, ...declared, ...byShell].filter(({ path }) => !own.has(path));
}
