/** The sessions of a memory, for somebody who picks one. */
import { basename } from 'node:path';
import * as z from 'zod';
import { UnreachableError } from '../../src/errors.js';
import { processSchema } from '../fold/rules/runs.js';
import { Runs } from '../fold/runs.js';
import { LOST_BEGINNING, type Progress } from '../fold/state.js';
import { settledCounts } from '../logs/settledCounts.js';
import { combinedState } from '../observed/combined.js';
import type { Observed } from '../observed/observed.js';
import { readPurpose } from '../observed/purpose.js';
import { observe, observeKept } from '../observed/sources.js';
import { isUnused } from '../sessions/adoption.js';
import { hasLostLines } from '../sessions/lostLines.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { presentState } from '../sessions/stateFile.js';
import { END_REASONS, type EndReason, LIFECYCLES, type Lifecycle, type Liveness } from '../words.js';
import type { Workspace } from '../workspaces/workspace.js';

export interface ListedSession {
  readonly session_id: string;
  readonly purpose: string;
  readonly name: string | null;
  readonly workspace: string | null;
  /** The top of its workspace; null if nobody knows any more which one it was. */
  readonly directory: string | null;
  readonly lifecycle: Lifecycle;
  readonly end_reason: EndReason | null;
  readonly crashed: boolean;
  /** Of the process of its present run. */
  readonly liveness: Liveness;
  /** Whether somebody has said that its present run ended: the program, or whoever found it dead. False also without a run. */
  readonly run_ended: boolean;
  /** A watcher has noticed that its agent seems stuck, and it has not gone on since. */
  readonly stuck: boolean;
  readonly progress: Progress;
  readonly created_at: number | null;
  readonly last_activity: number | null;
  /** Lines of its log that nobody can read. */
  readonly unreadable: number;
  /** All lines of its log are gone. */
  readonly emptied: boolean;
  /** Lines of its log that a newer version has written, so that more is known of it there. */
  readonly newer: number;
}

/** What a row needs of the state. */
const stateSchema = z.object({
  purpose: z.string(),
  name: z.string().nullable(),
  workspace: z.string().nullable(),
  /** Not in `state.json`. */
  directory: z.string().nullable().default(null),
  lifecycle: z.enum(LIFECYCLES),
  end: z.object({ reason: z.enum(END_REASONS) }).nullable(),
  archived: z.boolean(),
  runs: z.array(z.object({ process: processSchema, ended_at: z.number().nullable() })),
  progress: z.object({ done: z.number(), total: z.number(), pending: z.number(), current: z.string().nullable() }),
  created_at: z.number().nullable(),
  last_activity: z.number().nullable(),
  notices: z.array(z.unknown()).default([]),
  log: z.object({ lines: z.number(), unreadable: z.number(), newer: z.number().default(0) }),
});
type State = z.output<typeof stateSchema>;

/**
 * @param options `here`: only those of the caller's workspace; `which`: also those that have ended, or those in the archive
 * @param onUnreadable called for each session whose log cannot be read, or whose workspace's log cannot
 * @returns the sessions whose log can be read, the last active first. An implicit session that was left empty is not among them
 */
export async function listSessions(
  memory: Memory,
  { here, which }: { here: boolean; which: 'unfinished' | 'all' | 'archived' },
  onUnreadable: (error: UnreachableError) => void,
): Promise<ListedSession[]> {
  const { sessions } = memory;
  // One whose way to the archive was interrupted still lies among the sessions.
  const folders = which === 'archived' ? [...sessions.folders(), ...sessions.archivedFolders()] : sessions.folders();
  const rows: ListedSession[] = [];
  const directoryOf = directories(memory, onUnreadable);
  for (const folder of folders) {
    const written = writtenState(folder);
    // What its agent does is in its transcript only, and where the beginning is lost, its directory is in the workspace's log.
    const isWhole = written?.created_at != null && !mayBeUnused(written);
    const isPresent = isWhole && !mayWork(memory, written);
    const state = isPresent ? written : await foldedState(memory, basename(folder), onUnreadable);
    if (state === null || (state.log.lines === 0 && !hasLostLines(memory, folder))) continue;
    const { workspace, end } = state;
    if (isArchived(memory, folder, state) !== (which === 'archived')) continue;
    if (here && workspace !== memory.workspace.id) continue;
    if (end !== null && (which === 'unfinished' || end.reason === 'superseded')) continue;
    const directory = state.directory ?? directoryOf(workspace);
    rows.push(rowOf(memory, basename(folder), { ...state, directory }));
  }
  return rows.sort((left, right) => (right.last_activity ?? 0) - (left.last_activity ?? 0));
}

/** Where the beginning is lost, the line that archived it may be, too. */
function isArchived({ places }: Memory, folder: string, { archived, created_at }: State): boolean {
  return archived || (created_at === null && folder !== places.sessionFolder(basename(folder)));
}

function mayWork({ surroundings }: Memory, state: State): boolean {
  return state.lifecycle !== 'ended' && ['alive', 'unknown'].includes(new Runs(state, surroundings.process).liveness);
}

/** Only its logs tell. */
function mayBeUnused({ purpose, lifecycle }: State): boolean {
  return purpose === '' && lifecycle !== 'ended';
}

function rowOf({ surroundings }: Memory, id: string, { end, log, runs, notices, ...state }: State): ListedSession {
  const { name, workspace, directory, lifecycle, progress, created_at, last_activity } = state;
  const present = new Runs({ lifecycle, runs }, surroundings.process);
  return {
    session_id: id,
    purpose: created_at === null ? LOST_BEGINNING : state.purpose,
    name,
    workspace,
    directory,
    lifecycle,
    end_reason: end?.reason ?? null,
    crashed: present.isLost,
    liveness: present.liveness,
    run_ended: present.hasEnded,
    stuck: notices.length > 0,
    progress,
    created_at,
    last_activity,
    unreadable: log.unreadable,
    emptied: log.lines === 0,
    newer: log.newer,
  };
}

/** @returns null unless `state.json` was made from all that there is: then the logs must be folded */
function writtenState(folder: string): State | null {
  try {
    return stateSchema.safeParse(presentState(folder)).data ?? null;
  } catch {
    return null;
  }
}

async function foldedState(
  memory: Memory,
  id: string,
  onUnreadable: (error: UnreachableError) => void,
): Promise<State | null> {
  try {
    const session = memory.sessions.read(id);
    session?.log.close();
    if (session === null) return null;
    const { state, at } = session.log;
    const workspace = tried(() => memory.workspaceOf(state), onUnreadable);
    const kept = { log: state, folder: session.folder, workspace };
    const observed =
      state.lifecycle === 'ended'
        ? await observeKept(kept)
        : await observe(kept, { folders: memory.programs, redact: memory.stamp.redact });
    if (isLeftUnused(memory, session.log, observed.fold)) return null;
    const combined = stateSchema.parse({
      ...combinedState(state, at, observed),
      workspace: workspace?.id ?? state.facts?.workspace ?? null,
      directory: workspace?.root ?? null,
      log: await settledCounts(session.log),
    });
    if (combined.purpose !== '') return combined;
    return { ...combined, purpose: await readPurpose(state, memory.programs, memory.stamp.redact) };
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    onUnreadable(error);
    return null;
  }
}

/** Whether an agent was closed or killed before it was asked anything. What nobody can read may have been declared. */
function isLeftUnused(memory: Memory, { state, counts }: OpenSession['log'], fold: Observed | null): boolean {
  return !memory.runsOf(state).mayWork && counts.unreadable + counts.newer === 0 && isUnused(state, fold);
}

/** @returns the directory of a workspace by its id; each log is looked at once */
function directories({ claims }: Memory, onUnreadable: (error: UnreachableError) => void) {
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
