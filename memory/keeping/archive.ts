/**
 * The archive hides a session and keeps its record. First its worklog says so, then its documents are copied into its folder, its claim
 * is released, and last the folder moves with one rename. Two processes at once do the same steps. After a kill, the next process that
 * opens the session finishes it, see `memory/sessions/place.ts`; a claim of an archived session counts for nothing.
 */
import { UnreachableError } from '../../src/errors.js';
import { freshnessOf } from '../fold/freshness.js';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { RefusedError } from '../logs/kind.js';
import type { Memory } from '../sessions/memory.js';
import { requireOwnMemory } from '../sessions/ownMemory.js';
import { moveToPlace, placeOf } from '../sessions/place.js';
import type { OpenSession } from '../sessions/sessions.js';
import { documentFrom, takeAlong } from '../sessions/takeAlong.js';
import type { Archivist, Viewer } from '../sessions/views.js';
import { writeOrRefuse } from '../sessions/write.js';
import type { EndReason, Origin } from '../words.js';

/**
 * @param end how the session ends first, if it has not. Null if it is archived as it is
 * @param by the writer of the lines; the caller if missing
 * @returns the folder in the archive
 * @throws RefusedError while another live run works on the session, or if something else is in its place
 */
export function archiveSession(
  memory: Archivist,
  session: OpenSession,
  { end = null, by = memory.stamp.origin }: { readonly end?: EndReason | null; readonly by?: Origin } = {},
): string {
  requireOwnMemory(memory.places);
  const { documents, faults } = documentsNow(memory, session.log.state);
  writeOrRefuse(session, { ...memory.stamp, origin: by }, (state) => {
    requireNoOtherRun(memory, state);
    const ending: WorklogLine[] =
      end === null || state.lifecycle === 'ended' ? [] : [worklogKind.line('session_ended', { reason: end })];
    return state.archived === null ? [...ending, worklogKind.line('session_archived', { documents })] : [];
  });
  const failed = takeAlong(session, session.folder, memory.places) ?? [];
  const left = [...faults, ...failed].map((fault) => `session ${session.id} is archived without a document: ${fault}`);
  memory.leftOut.push(...left);
  releaseClaim(memory, session);
  return move(memory, session);
}

/** @returns the documents that the session names and that can be copied, and why others cannot */
function documentsNow(memory: Archivist, state: Worklog) {
  const { design, plan } = state.facts?.set.documents ?? {};
  const paths = new Set([design, plan].flatMap((document) => document?.path ?? []));
  const root = memory.workspaceOf(state)?.root ?? null;
  const all = [...paths].map((path) => ({ path, ...documentFrom(path, root) }));
  return {
    documents: all.flatMap((one) => ('fault' in one ? [] : [one.path])),
    faults: all.flatMap((one) => ('fault' in one ? [`${one.path}: ${one.fault}`] : [])),
  };
}

/**
 * A session with phases whose steps are all done goes into the archive at its end, if the settings say so. A phase is a step with
 * agents; a plain list of steps stays where its owner looks for it.
 * @returns the folder in the archive; null if it stays
 */
export function archiveCompleted(memory: Archivist & Pick<Memory, 'settings'>, session: OpenSession): string | null {
  const { end, steps } = session.log.state;
  const all = [...steps.values()];
  const isDone = all.every(({ status }) => status === 'completed' || status === 'skipped');
  const hasPhases = all.some(({ agents }) => agents.length > 0);
  if (!memory.settings.auto_archive.on_completion || end?.reason !== 'completed' || !hasPhases || !isDone) return null;
  // Another agent may still work on it.
  return memory.otherRuns(session.log.state).length === 0
    ? archiveSession(memory, session, { by: 'watchkeeper' })
    : null;
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
export function dueSessions(memory: Viewer & Pick<Memory, 'look'>): string[] {
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
export function releaseClaim({ claims }: Pick<Memory, 'claims'>, { id, log }: OpenSession): void {
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
