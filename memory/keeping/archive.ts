/**
 * The archive hides a session and keeps its record. First its worklog says so, then its documents are copied into its folder, it leaves
 * the mirror, its claim is released, and last the folder moves with one rename. Two processes at once do the same steps. After a kill, the next process that
 * opens the session finishes it, see `memory/sessions/place.ts`; a claim of an archived session counts for nothing.
 */
import { UnreachableError } from '../../src/errors.js';
import { oneLine } from '../../src/log/visibleText.js';
import { freshnessOf } from '../fold/freshness.js';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Step, Worklog } from '../fold/worklog.js';
import { RefusedError } from '../logs/kind.js';
import { activeName, mirrorAt } from '../mirror/mirror.js';
import { uncopied } from '../sessions/documentCopies.js';
import { isBridges, requireOwnMemory } from '../sessions/ownMemory.js';
import { moveToPlace, placeOf } from '../sessions/place.js';
import type { OpenSession } from '../sessions/sessions.js';
import { stateDirOf } from '../sessions/stateDir.js';
import { documentFrom, takeAlong } from '../sessions/takeAlong.js';
import type { Archivist, Viewer } from '../sessions/views.js';
import { writeOrRefuse } from '../sessions/write.js';
import type { EndReason, Origin } from '../words.js';
import type { Workspace } from '../workspaces/workspace.js';

export interface Archiving {
  /** How the session ends first, if it has not. Null if it is archived as it is. It throws RefusedError for a state that must not end so. */
  readonly end?: (state: Worklog) => EndReason | null;
  /** The writer of the lines; the caller if missing. */
  readonly by?: Origin;
}

/**
 * @returns the folder in the archive
 * @throws RefusedError while another live run works on the session, if something else is in its place, and what `end` throws
 */
export function archiveSession(
  memory: Archivist,
  session: OpenSession,
  { end = () => null, by = memory.stamp.origin }: Archiving = {},
): string {
  requireOwnMemory(memory.places);
  const { documents, faults } = documentsNow(memory, session);
  writeOrRefuse(session, { ...memory.stamp, origin: by }, (state) => {
    requireNoOtherRun(memory, state);
    if (state.archived !== null) return [];
    const reason = state.lifecycle === 'ended' ? null : end(state);
    const ending: WorklogLine[] = reason === null ? [] : [worklogKind.line('session_ended', { reason })];
    return [...ending, worklogKind.line('session_archived', { documents })];
  });
  const failed = takeAlong(session, session.folder, memory.places) ?? [];
  const left = [...faults, ...failed].map((fault) => oneLine(`session ${session.id} is archived without ${fault}`));
  memory.leftOut.push(...left);
  releaseClaim(memory, session);
  return move(memory, session);
}

/** @returns what the session takes along, which the mirror is a part of, and why it does so without some documents */
function documentsNow(memory: Archivist, { folder, log }: OpenSession) {
  const { state } = log;
  if (state.archived !== null) return { documents: [], faults: [] };
  const { design, plan } = state.facts?.set.documents ?? {};
  const paths = new Set([design, plan].flatMap((document) => document?.path ?? []));
  const workspace = memory.workspaceOf(state);
  const all = [...paths].map((path) => ({ path, ...documentFrom(path, workspace?.root ?? null) }));
  const mirror = workspace === null ? {} : mirrorNow(memory, workspace);
  // One that an earlier archiving took from the mirror has its copy.
  const faults = all.flatMap((one) =>
    'fault' in one && uncopied(folder, [one.path]).length > 0 ? [`${one.path}: ${one.fault}`] : [],
  );
  return {
    documents: [...all.flatMap((one) => ('fault' in one ? [] : [one.path])), ...(mirror.name ?? [])],
    faults: [...faults, ...(mirror.fault ?? [])],
  };
}

function mirrorNow(memory: Archivist, workspace: Workspace): { readonly name?: [string]; readonly fault?: [string] } {
  const named = stateDirOf(memory, workspace);
  try {
    return named === null ? {} : { name: [activeName(mirrorAt(workspace.root, named))] };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { fault: [`its mirror: ${error.message}`] };
  }
}

/**
 * A session whose phases are all completed or skipped goes into the archive, and ends as completed if it has not ended, unless the
 * caller's variable or the settings say no. A plain list of steps stays where its owner looks for it.
 * @returns the folder in the archive; null if it stays, or another agent works on it
 */
export function archiveDone(memory: Archivist, session: OpenSession): string | null {
  const { state } = session.log;
  const { variables } = memory.surroundings;
  const isWanted = archivesDone(variables.MAESTRO_AUTO_ARCHIVE, memory.settings.auto_archive.on_completion);
  const hasPhases = [...state.steps.values()].some(isPhase);
  const isOtherEnd = state.end !== null && state.end.reason !== 'completed';
  if (!isWanted || !hasPhases || isOtherEnd || undone(state).length > 0 || isBridges(memory.places)) return null;
  try {
    return archiveSession(memory, session, { end: completed, by: 'watchkeeper' });
  } catch (error) {
    // Another agent works on it, or added a phase in between.
    if (error instanceof RefusedError) return null;
    throw error;
  }
}

/** Whether a step has what only a plan of phases says of it: its agents, blockers or files, or that it is parallel. */
function isPhase({ agents, blocked_by, planned_files, files, parallel }: Step): boolean {
  return parallel || [agents, blocked_by, planned_files, ...Object.values(files)].some((list) => list.length > 0);
}

const OFF = ['false', '0', 'no', 'off'];
const ON = ['true', '1', 'yes', 'on'];

/** The variable goes before the setting, unless it says neither yes nor no. */
function archivesDone(variable: string | undefined, setting: boolean): boolean {
  const word = variable?.trim().toLowerCase() ?? '';
  return OFF.includes(word) ? false : ON.includes(word) || setting;
}

/** @returns the steps for which the session cannot end as completed: neither completed nor skipped */
function undone({ steps }: Worklog): string[] {
  return [...steps.values()].filter(({ status }) => status !== 'completed' && status !== 'skipped').map(({ id }) => id);
}

/** Open work must not look completed. @throws RefusedError with the code `open_phases` and the ways to end it */
export function completed(state: Worklog): EndReason {
  const open = undone(state);
  if (open.length === 0) return 'completed';
  const ways = {
    settle: 'complete them, or have a person skip them, with transition_phase',
    failed: 'archive the session as "failed"',
    cancelled: 'archive the session as "cancelled"',
  };
  const message = `session ${state.session_id} cannot end as completed, because these phases are neither completed nor skipped: ${open.join(', ')}. Either ${Object.values(ways).join(', or ')}`;
  throw new RefusedError({ code: 'open_phases', message }, { open, ways });
}

/**
 * Takes a session out of the archive. One that has not ended claims its workspace again.
 * @returns its folder
 * @throws RefusedError if another session holds the workspace; then it stays in the archive
 */
export function unarchiveSession(memory: Archivist, session: OpenSession): string {
  requireOwnMemory(memory.places);
  const { log, id } = session;
  writeOrRefuse(session, memory.stamp, ({ archived }) =>
    archived === null ? [] : [worklogKind.line('session_unarchived', {})],
  );
  const { facts, lifecycle } = log.state;
  const mustHold = lifecycle !== 'ended' && facts?.explicit === true && !facts.concurrent && facts.workspace !== null;
  const workspace = mustHold ? memory.claims.find(facts.workspace) : null;
  const refusal = workspace === null ? null : memory.claims.claim(workspace, id);
  if (refusal !== null)
    log.write(({ archived }) => (archived ? [] : [worklogKind.line('session_archived', {})]), memory.stamp);
  const folder = move(memory, session);
  if (refusal !== null) throw new RefusedError(refusal);
  return folder;
}

/** @returns the sessions that rested so long that they belong in the archive, and on which no run may be at work */
export function dueSessions(memory: Viewer): string[] {
  const { sessions, clock, settings } = memory;
  return sessions.ids().filter((id) => {
    const session = memory.look(id);
    if (session === null || session.log.state.facts === null) return false;
    const { last_activity, acknowledged_at, kept } = session.log.state;
    // Its transcripts may show later activity; a round keeps them first.
    const last = Math.max(last_activity ?? 0, acknowledged_at ?? 0, kept?.last_activity ?? 0) || null;
    return (
      memory.runsOf(session.log.state).going.length === 0 &&
      freshnessOf(last, clock.now(), settings.freshness) === 'archivable'
    );
  });
}

/** @throws RefusedError if a run that is not the caller's own works on the session */
export function requireNoOtherRun(memory: Archivist, state: Worklog): void {
  const [run] = memory.otherRuns(state);
  if (run === undefined) return;
  throw new RefusedError({
    code: 'run_alive',
    message: `process ${run.process.pid} works on session ${state.session_id}; end it first`,
  });
}

/** Ends the claim of a session that is archived or removed, whichever directory the caller is in. */
export function releaseClaim({ claims }: Viewer, { id, log }: OpenSession): void {
  const name = log.state.facts?.workspace ?? null;
  const workspace = name === null ? null : claims.find(name);
  const claim = workspace === null ? null : claims.claimOf(workspace, id);
  if (workspace !== null && claim !== null) claims.release(workspace, claim);
}

function move({ places }: Archivist, session: OpenSession): string {
  const folder = moveToPlace(session, places);
  if (folder !== null) return folder;
  throw new UnreachableError(
    `${session.folder} cannot move to ${placeOf(session.id, session.log.state, places)}: something else is there; move that away and repeat the command`,
  );
}
