/** The sessions of a memory, for a reader who picks one. */
import { basename } from 'node:path';
import { UnreachableError } from '../../src/errors.js';
import { type Condition, conditionOf, mayBeAtWork, type Recorded } from '../condition/condition.js';
import { isDamaged } from '../condition/damage.js';
import { type PublishedWait, publishedWait } from '../condition/publishedWait.js';
import { recordedIn, recordedOf } from '../condition/recorded.js';
import { isNoticed, type Judged } from '../condition/stuck.js';
import { byWeight, isUnfinished } from '../condition/weight.js';
import { stateWords } from '../condition/words.js';
import { LOST_BEGINNING } from '../fold/state.js';
import { isUnused } from '../fold/unused.js';
import { settledCounts } from '../logs/settledCounts.js';
import type { Observed } from '../observed/observed.js';
import { purposeOf, readPurpose } from '../observed/purpose.js';
import { observe } from '../observed/sources.js';
import { hasLostLines } from '../sessions/lostLines.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import type { Workspace } from '../workspaces/workspace.js';
import type { Judge } from './look.js';
import { settledState } from './written.js';

/** A session in a list. */
export interface ListedSession {
  readonly session_id: string;
  readonly purpose: string;
  readonly name: string | null;
  readonly workspace: string | null;
  /** The top of its workspace. Null if it is unknown which one it was. */
  readonly directory: string | null;
  readonly created_at: number | null;
  readonly last_activity: number | null;
  readonly condition: Condition;
}

/** @returns the row as JSON. For ten thousand rows, copying each object by its keys takes longer than reading the files */
export function rowValue(session: ListedSession) {
  const { session_id, purpose, name, workspace, directory, created_at, last_activity, condition } = session;
  const { lifecycle, end, agent, liveness, run_ended, stuck, weight, progress, damage } = condition;
  return {
    session_id,
    purpose,
    name,
    workspace,
    directory,
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

/** A session before it is a row. */
interface Entry extends Pick<ListedSession, 'purpose' | 'name' | 'workspace' | 'directory' | 'created_at'> {
  readonly recorded: Recorded;
  readonly judged: Judged | null;
  readonly wait: PublishedWait | null;
}

export interface ListOptions {
  /** Only those of the caller's workspace. */
  readonly here: boolean;
  /** Also those that have ended, or those in the archive. */
  readonly which: 'unfinished' | 'all' | 'archived';
  /** Judges the agents that may be at work. */
  readonly judge: Judge;
  /** Called for each session whose log cannot be read, or whose workspace's log cannot. */
  onUnreadable(error: UnreachableError): void;
}

export interface SessionList {
  /** Unfinished ones: the heaviest first. Others: the last active first. */
  readonly rows: readonly ListedSession[];
  /** How many are left out because nothing is unfinished in them. */
  readonly resting: number;
}

/** @returns the sessions whose log can be read. An implicit session that was left empty is not among them */
export async function listSessions(
  memory: Viewer & Pick<Memory, 'claims' | 'bindings'>,
  options: ListOptions,
): Promise<SessionList> {
  const { sessions } = memory;
  const { here, which } = options;
  // A session whose move to the archive was interrupted still lies among the others.
  const folders = which === 'archived' ? [...sessions.folders(), ...sessions.archivedFolders()] : sessions.folders();
  const rows: ListedSession[] = [];
  let resting = 0;
  const directoryOf = directories(memory, options);
  for (const folder of folders) {
    const id = basename(folder);
    const entry = writtenEntry(memory, folder) ?? (await foldedEntry(memory, id, options));
    if (entry === null || (entry.recorded.damage.isEmptied && !hasLostLines(memory, folder))) continue;
    const { workspace, recorded } = entry;
    if (isArchived(memory, folder, entry) !== (which === 'archived')) continue;
    if (here && workspace !== memory.workspace.id) continue;
    if (recorded.end !== null && (which === 'unfinished' || recorded.end === 'superseded')) continue;
    const row = rowOf(memory, id, entry, entry.directory ?? directoryOf(workspace));
    if (which === 'unfinished' && !isShown(row)) resting += 1;
    else rows.push(row);
  }
  const byActivity = (left: ListedSession, right: ListedSession) =>
    (right.last_activity ?? 0) - (left.last_activity ?? 0);
  return { rows: rows.sort(which === 'unfinished' ? byWeight : byActivity), resting };
}

/** Lines that cannot be read, and an agent that cannot be seen, may leave something unfinished. */
function isShown({ condition }: ListedSession): boolean {
  const { agent, damage } = condition;
  const isUnclear = agent === 'unknown' || agent === 'elsewhere' || isDamaged(damage) || damage.newer > 0;
  return isUnclear || isUnfinished(condition);
}

/** If the beginning is lost, the line that archived it may be lost, too. */
function isArchived({ places }: Viewer, folder: string, { recorded, created_at }: Entry): boolean {
  return recorded.archived || (created_at === null && folder !== places.sessionFolder(basename(folder)));
}

function rowOf(memory: Viewer, id: string, entry: Entry, directory: string | null): ListedSession {
  const { purpose, name, workspace, created_at, recorded, judged, wait } = entry;
  const { clock, settings, surroundings } = memory;
  const viewpoint = { here: surroundings.process, now: clock.now(), hours: settings.freshness, judged, wait };
  return {
    session_id: id,
    purpose: created_at === null ? LOST_BEGINNING : purpose,
    name,
    workspace,
    directory,
    created_at,
    last_activity: recorded.last_activity,
    condition: conditionOf(recorded, viewpoint),
  };
}

/** @returns null if its logs must be folded */
function writtenEntry(memory: Viewer, folder: string): Entry | null {
  const state = settledState(memory, folder);
  if (state === null) return null;
  const { name, workspace, purpose, created_at } = state;
  return {
    purpose,
    name,
    workspace,
    directory: null,
    created_at,
    recorded: recordedIn(state),
    judged: null,
    wait: null,
  };
}

async function foldedEntry(
  memory: Viewer,
  id: string,
  { judge, onUnreadable }: Pick<ListOptions, 'judge' | 'onUnreadable'>,
): Promise<Entry | null> {
  try {
    const session = memory.sessions.read(id);
    if (session === null) return null;
    const { log, folder } = session;
    const { state } = log;
    const workspace = tried(() => memory.workspaceOf(state), onUnreadable);
    const folders = state.lifecycle === 'ended' ? null : memory.programs;
    const { fold } = await observe({ log: state, folder, workspace }, { folders, redact: memory.stamp.redact });
    if (isLeftUnused(memory, log, fold)) return null;
    const recorded = recordedOf(state, fold, await settledCounts(log));
    const isJudged = state.conversations.length > 0 || isNoticed(state);
    const isAtWork = isJudged && mayBeAtWork(recorded, memory.runsOf(state));
    const purpose = state.facts === null ? '' : purposeOf(state, fold);
    return {
      purpose: purpose === '' ? await readPurpose(state, memory.programs, memory.stamp.redact) : purpose,
      name: state.facts?.name ?? null,
      workspace: workspace?.id ?? state.facts?.workspace ?? null,
      directory: workspace?.root ?? null,
      created_at: state.created_at,
      recorded,
      judged: isAtWork ? await judge(memory, id, memory.clock.now()) : null,
      wait: isAtWork ? publishedWait(memory, state) : null,
    };
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    onUnreadable(error);
    return null;
  }
}

/** Whether an agent was closed or killed before it was asked anything. Lines that cannot be read may be declarations. */
function isLeftUnused(memory: Viewer, { state, counts }: OpenSession['log'], fold: Observed | null): boolean {
  return !memory.runsOf(state).mayWork && counts.unreadable + counts.newer === 0 && isUnused(state, fold);
}

/** @returns the directory of a workspace by its id; each log is looked at once */
function directories({ claims }: Pick<Memory, 'claims'>, { onUnreadable }: Pick<ListOptions, 'onUnreadable'>) {
  const known = new Map<string, string | null>();
  return (id: string | null): string | null => {
    if (id === null) return null;
    if (!known.has(id)) known.set(id, tried(() => claims.find(id), onUnreadable)?.root ?? null);
    return known.get(id) ?? null;
  };
}

/** @returns null also if the log of the workspace cannot be read, which hides no session */
function tried(look: () => Workspace | null, onUnreadable: (error: UnreachableError) => void): Workspace | null {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    onUnreadable(error);
    return null;
  }
}
