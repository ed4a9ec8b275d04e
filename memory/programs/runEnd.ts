/** A program says that it ends, or that it waits for a person. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { worklogKind } from '../fold/rules/kind.js';
import { openRunOf } from '../fold/runs.js';
import { isImplicit, isUndeclared, mayHaveBeenAsked } from '../fold/unused.js';
import type { Worklog } from '../fold/worklog.js';
import { isInHistory, isPacked, transcriptOf } from '../observed/programFolders.js';
import { type Adopting, isAdopted } from '../sessions/adoption.js';
import { isUnbegun, type OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { type Launch, type Starting, startAgain } from './conversationStart.js';

/**
 * @param launch of the conversation, as far as it is known now
 * @returns the session that has the conversation, or else the program; null if none has, or it was removed. Lines of its beginning
 *   that a killed hook left out are written first
 */
export function boundSession(memory: Starting, launch: Omit<Launch, 'source' | 'launchedIn'>): OpenSession | null {
  const { agent } = launch;
  const known = memory.bindings.sessionOf(launch);
  const id = known ?? (agent === null ? null : memory.bindings.sessionOf({ process: agent }));
  const session = id === null ? null : memory.sessions.open(id);
  if (known === null || session === null || isWhole(memory, session, launch)) return session;
  return startAgain(memory, session, { ...launch, source: 'startup', launchedIn: null }).session;
}

/** Whether the hook or command that bound the conversation wrote all its lines, as far as that matters. */
function isWhole(memory: Adopting, session: OpenSession, launch: Omit<Launch, 'source' | 'launchedIn'>): boolean {
  const { lifecycle, archived } = session.log.state;
  if (lifecycle === 'ended' || archived !== null) return true;
  return !isUnbegun(session) && isAdopted(memory, session, { bound: launch, process: launch.agent });
}

/** @param reason in the program's word */
export function endRun(memory: Viewer, session: OpenSession, agent: ProcessIdentity, reason: string): void {
  const { sessions } = memory;
  // The transcript may be gone at the next look, or by now.
  const { state } = session.log;
  const asked = hasTranscript(memory, state) || isTypedIn(memory, state) || undefined;
  sessions.addFacts(session, ({ runs }) =>
    openRunOf(runs, agent) === undefined ? [] : [worklogKind.line('run_ended', { process: agent, reason, asked })],
  );
  if (wasNeverAsked(memory, session.log.state))
    sessions.addFacts(session, [worklogKind.line('session_ended', { reason: 'superseded' })]);
}

/** @returns whether nothing was asked in a session that began by itself: its program would else have a transcript of it */
function wasNeverAsked(memory: Viewer, state: Worklog): boolean {
  if (!isImplicit(state) || !isUndeclared(state) || memory.programs === null) return false;
  return !mayHaveBeenAsked(state) && !memory.runsOf(state).isLost && !hasTranscript(memory, state);
}

function isTypedIn({ programs }: Viewer, { conversations }: Worklog): boolean {
  return programs !== null && conversations.some((one) => one.moved_at === null && isInHistory(one, programs));
}

function hasTranscript({ programs }: Viewer, { conversations }: Worklog): boolean {
  return (
    programs !== null && conversations.some((one) => transcriptOf(one, programs) !== null || isPacked(one, programs))
  );
}

/** The subject of a dialog, as far as the program reports it. */
export interface AskedPermission {
  readonly tool: string | null;
  readonly inputDigest: string | null;
  readonly subAgent: string | null;
}

/** A dialog asks a person whether a call may be made. */
export function waitForPermission({ sessions }: Viewer, session: OpenSession, asked: AskedPermission): void {
  const { tool, inputDigest, subAgent } = asked;
  const wait = worklogKind.line('wait_start', {
    kind: 'permission',
    tool: tool ?? undefined,
    input_digest: inputDigest ?? undefined,
    agent_id: subAgent ?? undefined,
  });
  sessions.addFacts(session, [wait]);
}
