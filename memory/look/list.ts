/** The sessions of a memory, for a reader who picks one. */
import { existsSync } from 'node:fs';
import { basename, sep } from 'node:path';
import { type Condition, conditionOf } from '../condition/condition.js';
import { isDamaged } from '../condition/damage.js';
import { byWeight, isUnfinished, type Weight, type Weighty } from '../condition/weight.js';
import { stateWords } from '../condition/words.js';
import { LOST_BEGINNING } from '../fold/state.js';
import { hasLostLines } from '../sessions/lostLines.js';
import type { Viewer } from '../sessions/views.js';
import type { LeftSession } from '../workspaces/log.js';
import { readable } from '../workspaces/logs.js';
import { type Entry, type EntryOptions, foldedEntry, type Listed, writtenEntry } from './entry.js';
import { markOf, noteLeft, weighedBy } from './marks.js';
import { type Locating, locator, type Within, withinRepository, withinWorkspace } from './standing.js';
import { changedWeights } from './stillInDoubt.js';
import { markFor } from './unfinished.js';

/** A session in a list. */
export interface ListedSession extends Listed {
  readonly session_id: string;
  /** Where its agent is, or was last, if that is no directory of its workspace. Looked for in a list of some directories only. */
  readonly agent_directory: string | null;
  readonly last_activity: number | null;
  readonly condition: Condition;
}

/** @returns the row as JSON. For ten thousand rows, copying each object by its keys takes longer than reading the files */
export function rowValue(session: ListedSession) {
  const { session_id, purpose, last_asked, name, workspace, directory, agent_directory } = session;
  const { created_at, last_activity, condition } = session;
  const { lifecycle, end, agent, liveness, run_ended, stuck, weight, progress, damage } = condition;
  return {
    session_id,
    purpose,
    last_asked,
    name,
    workspace,
    directory,
    agent_directory,
    lifecycle,
    end_reason: end,
    crashed: agent === 'crashed',
    liveness,
    run_ended,
    stuck: stuck !== null,
    state: stateWords(condition),
    weight,
    progress,
    created_at,
    last_activity,
    unreadable: damage.unreadable,
    emptied: damage.isEmptied,
    newer: damage.newer,
  };
}

/** @internal for tests */
export type SessionRow = ReturnType<typeof rowValue>;

export interface ListOptions extends EntryOptions {
  /** Only those that stand in the caller's workspace, or in any worktree of its repository. */
  readonly where: 'here' | 'repository' | 'everywhere';
  /** Also those that rest or have ended, or those in the archive. */
  readonly which: 'unfinished' | 'all' | 'archived';
  /** How many rows are made at most; all if missing. */
  readonly most?: number;
}

export interface SessionList {
  /** Unfinished ones: the heaviest first. Others: the last active first. */
  readonly rows: readonly ListedSession[];
  /** How many would follow. */
  readonly more: number;
  /** How many are left out because nothing is unfinished in them. */
  readonly resting: number;
}

/**
 * @returns the sessions whose log can be read. An implicit session that was left empty is not among them
 * @throws UsageError if the caller is in no repository, and only its sessions are wanted
 */
export async function listSessions(memory: Locating, options: ListOptions): Promise<SessionList> {
  if (options.where === 'everywhere') return listOf(memory, { ...options, within: null });
  const { onUnreadable } = options;
  const within =
    options.where === 'here' ? withinWorkspace(memory, onUnreadable) : withinRepository(memory, onUnreadable);
  const list = await listOf(memory, { ...options, within });
  return { ...list, rows: withPlaces(memory, list.rows) };
}

interface Options extends ListOptions {
  /** Null for all. */
  readonly within: Within | null;
}

async function listOf(memory: Locating, options: Options): Promise<SessionList> {
  const { which, most = Number.POSITIVE_INFINITY } = options;
  if (which === 'unfinished') return listUnfinished(memory, options, most);
  const { sessions } = memory;
  // A session whose move to the archive was interrupted still lies among the others.
  const folders = which === 'archived' ? [...sessions.folders(), ...sessions.archivedFolders()] : sessions.folders();
  const rowOf = rowMaker(memory, options);
  const found: ListedSession[] = [];
  for (const folder of folders) found.push(...(await rowOf(folder)));
  found.sort((left, right) => (right.last_activity ?? 0) - (left.last_activity ?? 0));
  const shown = found.slice(0, most);
  const changed = await changedWeights(memory, shown.map(weightyOf), new Map());
  const rows = shown.map((row) => weighing(row, changed.get(row.session_id) ?? row.condition.weight));
  return { rows, more: Math.max(found.length - most, 0), resting: 0 };
}

/** A note on a session saves the look at it, unless it is among those that are shown. */
async function listUnfinished(memory: Locating, options: Options, most: number): Promise<SessionList> {
  const { claims, places, sessions } = memory;
  const rowOf = rowMaker(memory, options);
  const marks = claims.left(options.within === null ? null : [...options.within.workspaces], options.onUnreadable);
  const found = new Map<string, Map<string, LeftSession>>();
  const weighed: (Weighty & { readonly id: string; readonly row: ListedSession | null })[] = [];
  let resting = 0;
  for (const id of sessions.ids()) {
    const mark = markOf(memory, id, marks.get(id));
    const [known] = mark === null ? [] : weighedBy(id, mark);
    const [row = null] = mark === null ? await rowOf(places.sessionFolder(id)) : [];
    if (row !== null) noteFound(memory, found, row);
    const one = known ?? (row === null ? null : { weight: row.condition.weight, last_activity: row.last_activity });
    if (one === null) continue;
    if (isUnfinished(one) || (row !== null && isUnclear(row))) weighed.push({ ...one, id, row });
    else resting += 1;
  }
  for (const [id, left] of found) {
    const place = readable(() => claims.find(id), options.onUnreadable) ?? null;
    if (place !== null) noteLeft(memory, place, left);
  }
  const changed = await changedWeights(memory, weighed, marks);
  const again = weighed.map((one) => ({ ...one, weight: changed.get(one.id) ?? one.weight }));
  const left = again.filter(({ id, weight }) => weight !== 'rests' || !changed.has(id)).sort(byWeight);
  const shown: ListedSession[] = [];
  for (const { id, row, weight } of left.slice(0, most))
    shown.push(...(row === null ? await rowOf(places.sessionFolder(id)) : [row]).map((each) => weighing(each, weight)));
  return { rows: shown, more: Math.max(left.length - most, 0), resting: resting + again.length - left.length };
}

/** An agent that ended where its session began has no other place. */
function withPlaces(memory: Locating, rows: readonly ListedSession[]): ListedSession[] {
  const locate = locator(memory);
  const { variables } = memory.surroundings;
  return rows.map((row) => {
    const session = row.condition.lifecycle === 'ended' ? null : memory.look(row.session_id);
    const directory = session === null ? null : locate(session);
    if (directory === null) return row;
    const isOwn = existsSync(directory)
      ? memory.claims.workspaceOf(directory, variables).id === row.workspace
      : row.directory !== null && !existsSync(row.directory) && isBelow(directory, row.directory);
    return isOwn ? row : { ...row, agent_directory: directory };
  });
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

function weightyOf({ session_id: id, condition: { weight }, last_activity }: ListedSession) {
  return { id, weight, last_activity };
}

function weighing(row: ListedSession, weight: Weight): ListedSession {
  return row.condition.weight === weight ? row : { ...row, condition: { ...row.condition, weight } };
}

/** @param found takes what may be noted of the session, by workspace */
function noteFound(memory: Locating, found: Map<string, Map<string, LeftSession>>, row: ListedSession): void {
  const { session_id: id, workspace, condition, last_activity } = row;
  const session = workspace === null ? null : memory.look(id);
  const mark = session === null ? null : markFor(memory, session, condition, last_activity);
  if (workspace === null || mark === null) return;
  found.set(workspace, (found.get(workspace) ?? new Map()).set(id, mark));
}

/** @returns a function that makes the row of a session; nothing if the options leave it out */
function rowMaker(memory: Locating, options: Options): (folder: string) => Promise<ListedSession[]> {
  const { within, which } = options;
  const directoryOf = directories(memory, options);
  return async (folder) => {
    const id = basename(folder);
    const entry = writtenEntry(memory, folder) ?? (await foldedEntry(memory, id, options));
    if (entry === null || (entry.recorded.damage.isEmptied && !hasLostLines(memory, folder))) return [];
    const { workspace, recorded } = entry;
    if (isArchived(memory, folder, entry) !== (which === 'archived')) return [];
    if (within !== null && !within.sessions.has(id) && !within.workspaces.has(workspace ?? '')) return [];
    if (recorded.end !== null && (which === 'unfinished' || recorded.end === 'superseded')) return [];
    return [rowOf(memory, id, entry, entry.directory ?? directoryOf(workspace))];
  };
}

/** Lines that cannot be read, and an agent that cannot be seen, may leave something unfinished. */
function isUnclear({ condition }: ListedSession): boolean {
  const { agent, damage } = condition;
  return agent === 'unknown' || agent === 'elsewhere' || isDamaged(damage) || damage.newer > 0;
}

/** If the beginning is lost, the line that archived it may be lost, too. */
function isArchived({ places }: Viewer, folder: string, { recorded, created_at }: Entry): boolean {
  return recorded.archived || (created_at === null && folder !== places.sessionFolder(basename(folder)));
}

function rowOf(memory: Viewer, id: string, entry: Entry, directory: string | null): ListedSession {
  const { purpose, last_asked, name, workspace, created_at, recorded, judged, wait } = entry;
  const { clock, settings, surroundings } = memory;
  const viewpoint = { here: surroundings.process, now: clock.now(), hours: settings.freshness, judged, wait };
  return {
    session_id: id,
    purpose: created_at === null ? LOST_BEGINNING : purpose,
    last_asked,
    name,
    workspace,
    directory,
    agent_directory: null,
    created_at,
    last_activity: recorded.last_activity,
    condition: conditionOf(recorded, viewpoint),
  };
}

/** @returns the directory of a workspace by its id; each log is looked at once */
function directories({ claims }: Viewer, { onUnreadable }: Pick<ListOptions, 'onUnreadable'>) {
  const known = new Map<string, string | null>();
  return (id: string | null): string | null => {
    if (id === null) return null;
    if (!known.has(id)) known.set(id, readable(() => claims.find(id), onUnreadable)?.root ?? null);
    return known.get(id) ?? null;
  };
}
