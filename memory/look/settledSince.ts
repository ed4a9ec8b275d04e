/** Files that an interrupted agent left in doubt, and that others have finished since: they are no longer in doubt because of it. */

import { SHELLS } from '../../src/journal/agentVocabulary.js';
import type { DoubtfulFile } from '../condition/filesInDoubt.js';
import { filesInDoubt } from '../condition/filesInDoubt.js';
import { byWeight, type Weighty } from '../condition/weight.js';
import type { Worklog } from '../fold/worklog.js';
import { Git } from '../git/git.js';
import type { Observed } from '../observed/observed.js';
import { observe } from '../observed/sources.js';
import type { Viewer } from '../sessions/views.js';
import type { LeftSession } from '../workspaces/log.js';
import type { Workspace } from '../workspaces/workspace.js';

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

/**
 * @param workspace where the files are
 * @returns those of the doubtful files that the agent of another session has changed later, in a turn that ended, or that were committed
 *   later
 */
export async function settledSince(memory: Viewer, doubted: Doubted, workspace: Workspace): Promise<SettledFile[]> {
  const { log, fold, doubtful } = doubted;
  const last = fold?.lastActivity ?? log.last_activity;
  if (last === null || doubtful.length === 0) return [];
  const open = new Set(doubtful.map(({ path }) => path));
  const settled: SettledFile[] = [];
  const settle = (file: SettledFile) => {
    if (open.delete(file.path)) settled.push(file);
  };
  for (const other of activeSince(memory, workspace, { last, except: log.session_id ?? '' })) {
    if (open.size === 0) break;
    for (const { at, ...file } of await changedBy(memory, other, workspace)) if (at > last) settle(file);
  }
  for (const { path, exists } of doubtful)
    if (!exists && isKnownWritten(fold, path)) settle({ path, how: 'deleted', by: null });
  if (open.size > 0)
    for (const path of new Git(workspace.root, memory.surroundings.variables).committedAfter(last) ?? [])
      settle({ path, how: 'committed', by: null });
  return settled;
}

/** A file that is gone was deleted since if its agent had written it, and no command that may have deleted it was running. */
function isKnownWritten(fold: Observed | null, path: string): boolean {
  if (fold === null || fold.openCalls().some(({ tool }) => SHELLS.has(tool))) return false;
  const change = fold.files.get(path)?.change;
  return change === 'created' || change === 'modified';
}

interface Other {
  readonly id: string;
  /** As it is noted. Undefined if it is not: then it may be at work. */
  readonly left: LeftSession | undefined;
}

/** @returns the sessions of the workspace that may have been active later, the last active first */
function activeSince(
  { claims }: Viewer,
  workspace: Workspace,
  { last, except }: { readonly last: number; readonly except: string },
): Other[] {
  const read = claims.read(workspace);
  const noted = ({ left }: Other) => left?.last_activity ?? Number.POSITIVE_INFINITY;
  return [...(read?.sessions ?? [])]
    .map((id) => ({ id, left: read?.left.get(id) }))
    .filter((other) => other.id !== except && noted(other) > last)
    .sort((one, other) => (noted(one) === noted(other) ? (one.id < other.id ? 1 : -1) : noted(other) - noted(one)))
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
  if (left === undefined) return changesOf(memory, id, workspace);
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
  return [...observed, ...declared].filter(({ path }) => !own.has(path));
}

/** @returns those whose weight may have fallen since it was noted, the heaviest first */
export function inDoubt<One extends Weighty>(weighed: readonly One[]): One[] {
  return weighed.filter(({ weight }) => weight === 'files_in_doubt').sort(byWeight);
}
