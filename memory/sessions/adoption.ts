/** Gives a session a conversation and the process that has it. The session that had them before loses them. */
import { isServer, isSupervisor } from '../../src/agents/programs.js';
import { isSameProcess, type ProcessIdentity } from '../../src/host/identity.js';
import { readArguments } from '../../src/host/procfs.js';
import { startedAt } from '../../src/host/startedAt.js';
import { isoTimeOrNull, SECOND } from '../../src/time.js';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import { openRunOf } from '../fold/runs.js';
import { isImplicit, isUndeclared } from '../fold/unused.js';
import type { Run, Worklog } from '../fold/worklog.js';
import { type ConversationSource, LOST, MOVED, type Publication } from '../words.js';
import type { BoundConversation } from './bindings.js';
import type { Memory } from './memory.js';
import { requireOwnMemory } from './ownMemory.js';
import type { OpenSession } from './sessions.js';
import type { Caller, Viewer } from './views.js';

/** Between the start of a program and the hook that reports its conversation, on a busy machine. */
const SLOWEST_START_MS = 60 * SECOND;
/** A hook runs so long after the event that it reports. */
const HOOK_LATE_MS = 3 * SECOND;

export interface Adopted {
  /** Null if it is unknown. */
  readonly conversation: BoundConversation | null;
  /** The agent. Null if it is unknown. */
  readonly process: ProcessIdentity | null;
  readonly source: ConversationSource;
  /** Null if it is where the program keeps its transcripts. */
  readonly transcript: string | null;
  /** The program keeps none. */
  readonly unrecorded?: boolean;
  /** If the program published that it works, and no hook of it reported that. */
  readonly published?: Publication | undefined;
}

/** Gives sessions conversations and processes, and reports that to the sessions that lose them. */
export type Adopting = Viewer & Pick<Memory, 'bindings'>;

/** @returns whether the caller runs in the shell of an agent */
export function isInAgent({ conversation, agentProcess }: Caller): boolean {
  return conversation !== null || agentProcess !== null;
}

/** The conversation and the process are those of the agent that owns the caller's shell. */
export function adoptCaller(memory: Adopting & Caller, session: OpenSession): void {
  const { conversation, agentProcess: process } = memory;
  adopt(memory, session, { conversation, process, source: 'bind', transcript: null });
}

/**
 * Writes nothing that holds already.
 * @throws RefusedError in the memory of a bridge, which knows which run works on its sessions
 */
export function adopt(memory: Adopting, session: OpenSession, adopted: Adopted): void {
  requireOwnMemory(memory.places);
  const { conversation, process, published } = adopted;
  if (process !== null) endLostRuns(memory, session, process);
  if (conversation !== null) adoptConversation(memory, session, conversation, adopted);
  if (process !== null) adoptProcess(memory, session, process, { agent: conversation?.provider, published });
}

function adoptConversation(
  memory: Adopting,
  session: OpenSession,
  bound: BoundConversation,
  { source, transcript, unrecorded, process }: Adopted,
): void {
  const { id, log } = session;
  const { provider, conversation } = bound;
  const before = memory.bindings.bind(bound, id);
  const former = loserOf(memory, log.state, before);
  const lost = former === null || hasConversation(log.state, bound) ? null : memory.look(former);
  // The beginning is this session's, too, unless another one keeps a share. A former session that has nothing else keeps none.
  const isOwn = source !== 'bind' && former === before;
  const isWhole = lost === null ? isOwn : isEmptyWithout(lost.log.state, bound);
  const theirs = lost?.log.state.conversations.findLast((one) => matches(one, bound));
  const inherited = isWhole ? (theirs?.since ?? null) : memory.clock.now();
  const begun = source === 'fork' && theirs === undefined ? forkedAt(memory, process) : inherited;
  const since = isoTimeOrNull(begun);
  const line = worklogKind.line('conversation', {
    ...{ provider, conversation, source, cwd: memory.surroundings.directory, workspace: memory.workspace.id, since },
    // Only the program's own hook reports the path, and a reader of the session may not have the program's variables.
    transcript: transcript ?? theirs?.transcript ?? undefined,
    unrecorded: unrecorded === true ? true : undefined,
    process: process ?? undefined,
  });
  memory.sessions.addFacts(session, (state) => (hasConversation(state, bound) && source !== 'resume' ? [] : [line]));
  writeTo(memory, former, (state) =>
    hasConversation(state, bound) ? [worklogKind.line('conversation_moved', { provider, conversation, to: id })] : [],
  );
}

/**
 * A fork's transcript begins with a copy of its origin's. Its own records are not older than its program, if that was started for it;
 * this hook itself may run late.
 */
function forkedAt({ clock }: Adopting, process: ProcessIdentity | null): number {
  const now = clock.now();
  const began = process === null ? null : startedAt(process, now);
  return began !== null && now - began < SLOWEST_START_MS ? Math.floor(began) : now - HOOK_LATE_MS;
}

/** Ends the runs whose process is proven dead, or is no agent, so that the session does not count as crashed any more. */
function endLostRuns(memory: Adopting, session: OpenSession, own: ProcessIdentity): void {
  const lostIn = (state: Worklog) => {
    const { dead, alive } = memory.runsOf(state);
    const others = dead.filter((run) => !isSameProcess(run.process, own));
    return [...others, ...alive.filter(({ process }) => isSupervisor(readArguments(process.pid)))];
  };
  if (lostIn(session.log.state).length === 0) return;
  const lines = (state: Worklog) =>
    lostIn(state).map(({ process }) => worklogKind.line('run_ended', { process, reason: LOST }));
  memory.sessions.addFacts(session, lines, { by: 'watchkeeper' });
}

function adoptProcess(
  memory: Adopting,
  session: OpenSession,
  process: ProcessIdentity,
  { agent, published }: Pick<Adopted, 'published'> & { readonly agent: string | undefined },
): void {
  const former = isServer(readArguments(process.pid)) ? null : memory.bindings.bind({ process }, session.id);
  const line = worklogKind.line('run_started', { process, agent, published });
  // A hook knows more than a publication of a living process, and one that was left behind says how it ended.
  const isNews = ({ published: known }: Pick<Run, 'published'>) =>
    known !== published && (known === 'live' || published === 'left');
  memory.sessions.addFacts(session, ({ runs }) => {
    const run = openRunOf(runs, process);
    return run === undefined || isNews(run) ? [line] : [];
  });
  writeTo(memory, former, (state) => movedRun(state, process, session.id));
}

/** Ends the run of a process in a session that it has left for another one. */
export function endMovedRun({ sessions }: Viewer, session: OpenSession, process: ProcessIdentity, to: string): void {
  sessions.addFacts(session, (state) => movedRun(state, process, to));
}

function movedRun(state: Worklog, process: ProcessIdentity, to: string): WorklogLine[] {
  return hasRun(state, process) ? [worklogKind.line('run_ended', { process, reason: `${MOVED}${to}` })] : [];
}

/**
 * @param process the agent. Null if it is unknown
 * @returns whether every line of an adoption was written; a killed hook or command leaves some out, also in the former session
 */
export function isAdopted(
  memory: Adopting,
  { log: { state } }: OpenSession,
  { bound, process }: { readonly bound: BoundConversation; readonly process: ProcessIdentity | null },
): boolean {
  const hasLine = state.conversations.some((one) => matches(one, bound));
  const hasItsRun = process === null || state.runs.some((run) => isSameProcess(run.process, process));
  const former = hasLine && hasItsRun ? loserOf(memory, state, memory.bindings.formerOf(bound)) : null;
  const lost = former === null ? undefined : memory.look(former)?.log.state;
  const isReported =
    lost === undefined ||
    !(hasConversation(lost, bound) || (process !== null && hasRun(lost, process)) || isLeftEmpty(lost));
  return hasLine && hasItsRun && isReported;
}

/**
 * Writes to a session that it has lost a conversation or a process: it must not look crashed when that process
 * ends.
 */
function writeTo(memory: Adopting, id: string | null, lines: (state: Worklog) => readonly WorklogLine[]): void {
  const ending = worklogKind.line('session_ended', { reason: 'superseded' });
  memory.sessions.withSession(id, (session) => {
    const { log } = session;
    memory.sessions.addFacts(session, lines);
    // A newer version may have written more than is known here.
    if (log.counts.newer === 0) log.write((state) => (isLeftEmpty(state) ? [ending] : []), memory.stamp);
  });
}

/** @returns whether a session that began by itself has nothing left to see */
function isLeftEmpty(state: Worklog): boolean {
  return (
    isImplicit(state) &&
    state.archived === null &&
    state.conversations.every(({ moved_at }) => moved_at !== null) &&
    isUndeclared(state)
  );
}

function isEmptyWithout(state: Worklog, bound: BoundConversation): boolean {
  const isGiven = state.conversations.every((one) => one.moved_at !== null || matches(one, bound));
  return isImplicit(state) && isGiven && isUndeclared(state);
}

/** A session that continues one that has ended leaves that one its share of the conversation. */
function loserOf(memory: Adopting, { facts }: Worklog, former: string | null): string | null {
  if (former === null || former !== facts?.continues) return former;
  const lifecycle = memory.look(former)?.log.state.lifecycle;
  // It may have been reopened.
  return lifecycle === undefined || lifecycle === 'ended' ? null : former;
}

/** Writes to a resumed session which of its conversations another one has. */
export function reportMoved({ sessions, bindings }: Pick<Memory, 'sessions' | 'bindings'>, session: OpenSession): void {
  sessions.addFacts(session, ({ conversations }) =>
    conversations.flatMap(({ provider, id: conversation, moved_at }) => {
      const to = moved_at === null ? bindings.sessionOf({ provider, conversation }) : null;
      const isOwn = to === null || to === session.id;
      return isOwn ? [] : [worklogKind.line('conversation_moved', { provider, conversation, to })];
    }),
  );
}

function hasConversation({ conversations }: Worklog, bound: BoundConversation): boolean {
  return conversations.some((one) => one.moved_at === null && matches(one, bound));
}

function hasRun({ runs }: Worklog, process: ProcessIdentity): boolean {
  return openRunOf(runs, process) !== undefined;
}

function matches(one: { readonly provider: string; readonly id: string }, bound: BoundConversation): boolean {
  return one.provider === bound.provider && one.id === bound.conversation;
}
