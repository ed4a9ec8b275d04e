/**
 * Finds or begins the session of a conversation that a program begins or resumes. Its binding decides: two hooks that run at the same
 * time end up in one session, and the next hook writes the lines that a killed one left out.
 */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { ulid } from '../../src/ids.js';
import { worklogKind } from '../fold/rules/kind.js';
import { unarchiveSession } from '../keeping/archive.js';
import { RefusedError } from '../logs/kind.js';
import { type Adopting, adopt } from '../sessions/adoption.js';
import type { BoundConversation } from '../sessions/bindings.js';
import { childRefusal } from '../sessions/delegation.js';
import { baselineOf } from '../sessions/lifecycle.js';
import { requireOwnMemory } from '../sessions/ownMemory.js';
import { IMPLICIT, isUnbegun, type OpenSession } from '../sessions/sessions.js';
import type { Archivist } from '../sessions/views.js';
import type { ConversationSource, Publication } from '../words.js';

/** Begins sessions, and brings them back from the archive. */
export type Starting = Adopting & Archivist;

/** The report of a program that one of its conversations begins or resumes. */
export interface Launch extends BoundConversation {
  readonly source: ConversationSource;
  /** Null if it is where the program keeps its transcripts. */
  readonly transcript: string | null;
  /** The program keeps none. */
  readonly unrecorded?: boolean;
  /** The process of the program. Null if it is unknown. */
  readonly agent: ProcessIdentity | null;
  readonly published?: Publication | undefined;
  /** The conversation whose shell started the program. Null if a person did. */
  readonly launchedIn: BoundConversation | null;
}

export interface StartedConversation {
  readonly session: OpenSession;
  /** The session as it was before. Null if it began now. */
  readonly before: OpenSession | null;
  /** Sentences on other sessions of the directory, for the person who begins this one. They are shown only once. */
  readonly reports: readonly string[];
}

/** @throws UnreachableError if the memory cannot be written; RefusedError in that of a bridge */
export function startConversation(memory: Starting, launch: Launch): StartedConversation {
  requireOwnMemory(memory.places);
  const known = memory.bindings.sessionOf(launch);
  const id = known === null ? sessionFor(memory, launch) : resumed(memory, known);
  const found = id === null ? null : memory.look(id);
  const before = found === null || isUnbegun(found) ? null : found;
  // A conversation that began here takes them with its session's first line.
  const reports =
    before === null ? (memory.claims.read(memory.workspace)?.reports ?? []) : reportsFor(memory, launch, before);
  const session = before === null || id === null ? begun(memory, launch, known) : memory.sessions.open(id);
  if (session === null) return startConversation(memory, launch);
  // The hook that began the session may have been killed before it entered the workspace.
  if (before !== null) memory.claims.enter(memory.workspaceOf(before.log.state) ?? memory.workspace, session.id);
  adopt(memory, session, { ...launch, conversation: launch, process: launch.agent });
  // It may have ended in the meantime, as when nothing had been asked in it.
  return session.log.state.lifecycle === 'ended' ? startAgain(memory, session, launch) : { session, before, reports };
}

/** @returns what a person who goes on with a conversation has not read yet */
function reportsFor(memory: Starting, { source }: Launch, { id }: OpenSession): readonly string[] {
  return source === 'resume' ? memory.claims.takeReports(memory.workspace, id) : [];
}

/** @param session that cannot take the conversation */
export function startAgain(memory: Starting, { log }: OpenSession, launch: Launch): StartedConversation {
  log.close();
  return startConversation(memory, launch);
}

/** @returns the session that is resumed; null if it has ended, or is gone, so that another one continues it */
function resumed(memory: Starting, known: string): string | null {
  return memory.sessions.withSession(known, (session) => {
    const { lifecycle, archived } = session.log.state;
    if (lifecycle === 'ended') return null;
    try {
      if (archived !== null) unarchiveSession(memory, session);
      return known;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return null;
    }
  });
}

/** @returns the session that a new conversation joins; null if it gets one of its own */
function sessionFor(memory: Starting, { source, agent, launchedIn, published }: Launch): string | null {
  if (source === 'clear' || source === 'compact') {
    const bound = agent === null ? null : memory.bindings.sessionOf({ process: agent });
    const lifecycle = bound === null ? undefined : memory.look(bound)?.log.state.lifecycle;
    return lifecycle === undefined || lifecycle === 'ended' ? null : bound;
  }
  if (source === 'fork' || launchedIn !== null || published !== undefined) return null;
  const holder = memory.claims.holder(memory.workspace);
  const log = holder === null ? undefined : memory.look(holder)?.log.state;
  return log === undefined || memory.runsOf(log).going.length > 0 ? null : holder;
}

/** @param known the session that has the conversation. Null if none has */
function begun(memory: Starting, launch: Launch, known: string | null): OpenSession {
  const id = takenIn(memory, known) ?? memory.bindings.take(launch, `${IMPLICIT}${ulid(memory.clock)}`, known);
  const { workspace, surroundings, bindings, sessions } = memory;
  const begin = (parent: OpenSession | null) => {
    const fields = {
      ...{ workspace: workspace.id, cwd: surroundings.directory, agent: launch.provider },
      ...baselineOf(workspace),
      ...{ continues: bindings.formerOf(launch) ?? undefined, parent: parent?.id },
    };
    // First, because later hooks look for sessions in the workspace's log.
    memory.claims.enter(workspace, id);
    const session = sessions.openImplicit(id, fields);
    const { max_children: most } = memory.settings.delegation;
    parent?.log.write(() => [worklogKind.line('child', { child: id, most })], memory.stamp);
    return session;
  };
  const above = launch.launchedIn === null ? null : bindings.sessionOf(launch.launchedIn);
  return (
    sessions.withSession(above, (parent) => begin(childRefusal(memory, parent.log.state) === null ? parent : null)) ??
    begin(null)
  );
}

/** @returns the id that a hook took for a session without beginning it, because it was killed or is still at work; null if none did */
function takenIn(memory: Starting, known: string | null): string | null {
  if (!known?.startsWith(IMPLICIT)) return null;
  if (memory.places.findSession(known) === null) return known;
  const state = memory.look(known)?.log.state;
  // The other hook may have begun it since this one looked.
  return state?.lifecycle === 'ended' || (state !== undefined && state.archived !== null) ? null : known;
}
