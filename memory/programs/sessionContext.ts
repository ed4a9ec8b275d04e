/** The context that a model gets when a conversation of its program begins or resumes, and the notice for the person. */

import { counted } from '../../src/counted.js';
import { UnreachableError } from '../../src/errors.js';
import type { Section } from '../brief/budget.js';
import type { Changing } from '../brief/changesSince.js';
import { contextGiven, contextGivenTo, digestOf } from '../brief/contextGiven.js';
import { otherCrash } from '../brief/crashReport.js';
import type { ContextLevel } from '../brief/levels.js';
import { entries, Words } from '../brief/observedSections.js';
import { contextFor, notesFor } from '../brief/resumeContext.js';
import { recordView, viewOf } from '../brief/view.js';
import { newWorklog } from '../fold/newWorklog.js';
import { isUndeclared, isUnused } from '../fold/unused.js';
import type { Worklog } from '../fold/worklog.js';
import { type Look, lookAt } from '../look/look.js';
import type { Observed } from '../observed/observed.js';
import { hasScreen } from '../sessions/agentProcess.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { isUnreportedCrash, mostUrgentFirst, type UnfinishedSession, unfinishedIn } from '../sessions/unfinished.js';
import type { Viewer } from '../sessions/views.js';
import type { Launch, StartedConversation } from './conversationStart.js';
import { noticeOf, noticeOfOther } from './notice.js';
import { wasNeverAsked } from './runEnd.js';

/** The newest sessions of one workspace. */
const MOST_LOOKED_AT = 50;
/** May be lost in a power failure; the crash is then reported twice. */
const REPORTED = { by: 'watchkeeper', isDurable: false } as const;

export interface GivenContext {
  readonly level: ContextLevel;
  /** For the model; empty if there is nothing to report. */
  readonly text: string;
  /** For the person, in lines; null if there is nothing to report. */
  readonly notice: string | null;
  /** The id of the sub-agent that reads it, if it has one. */
  readonly subAgent?: string | null;
}

/** Sees the sessions of a directory, and how they change. */
type Reporting = Viewer & Changing & Pick<Memory, 'bindings' | 'claims' | 'isBridges' | 'look'>;

/** A session that may be reported at a start. */
type Candidate = OpenSession & Partial<Pick<UnfinishedSession, 'reason'>>;

/** @returns the sessions that the start of a conversation may report. It reports the first one that has something to show */
export function sessionsToReport(
  memory: Reporting,
  { session, before }: StartedConversation,
  { source }: Launch,
): readonly Candidate[] {
  // A resumed conversation got the report on the others when it began.
  if (levelOf(source, session.log.state) !== 'root') return [before ?? session];
  // The session that it joins, then the unfinished ones.
  return [...(before === null ? [] : [before]), ...unfinished(memory, session.id)];
}

/**
 * @param candidates of {@link sessionsToReport}
 * @returns the context for the start of a conversation
 */
export async function startContext(
  memory: Reporting,
  started: StartedConversation,
  launch: Launch,
  candidates = sessionsToReport(memory, started, launch),
): Promise<GivenContext> {
  const { session } = started;
  const { about, given } = await contextOfFirst(memory, candidates, { source: launch.source, own: session });
  // An agent without a screen does not use up the report of a crash: the person and the next agent still get it.
  if (hasScreen(memory.surroundings, launch.agent))
    for (const id of about) if (id !== session.id) markReported(memory, id, session.id);
  return given;
}

/** @returns the context for the start of a conversation that cannot be recorded. Writes nothing */
export async function unrecordedContext(memory: Reporting, launch: Launch): Promise<GivenContext> {
  const { source, agent } = launch;
  const isSame = source === 'clear' || source === 'compact';
  const bound = isSame && agent !== null ? memory.bindings.sessionOf({ process: agent }) : null;
  const id = memory.bindings.sessionOf(launch) ?? bound;
  const known = id === null ? null : memory.look(id);
  const own = known === null || known.log.state.lifecycle === 'ended' ? null : known;
  const others = levelOf(source, newWorklog()) === 'root' ? unfinished(memory, id) : [];
  const candidates = others.length > 0 || own === null ? others : [own];
  return (await contextOfFirst(memory, candidates, { source, own })).given;
}

/**
 * @param own the session of the conversation. Null if it has none
 * @returns the context about the first session with something to report, and the ids of the sessions in it; else the notes of the
 *   directory. If the first one is its own, the crash of another session follows
 */
async function contextOfFirst(
  memory: Reporting,
  candidates: readonly Candidate[],
  { source, own }: { readonly source: Launch['source']; readonly own: OpenSession | null },
): Promise<{ readonly about: readonly string[]; readonly given: GivenContext }> {
  const log = own?.log.state ?? newWorklog();
  const level = levelOf(source, log);
  for (const [index, about] of candidates.entries()) {
    const look = await lookAt(memory, about);
    if (isNothing(look)) continue;
    const others = candidates.slice(index + 1);
    const isOwn = about.id === own?.id;
    const crash = isOwn ? await unreportedCrash(memory, others) : null;
    const text = contextFor(viewOf(memory, look), level, { further: furtherOf(memory, others, crash), isOwn });
    const { redact } = memory.stamp;
    const notices = [
      level === 'root' || level === 'resumed' ? noticeOf(look, redact) : null,
      crash === null ? null : noticeOfOther(crash, redact),
    ].filter((line) => line !== null);
    const reported = [about.id, ...(crash === null ? [] : [crash.log.session_id ?? ''])];
    return { about: reported, given: { level, text, notice: notices.length === 0 ? null : notices.join('\n') } };
  }
  return { about: [], given: { level, text: notesFor(recordView(memory, log), level), notice: null } };
}

function isNothing({ log, fold }: Look): boolean {
  return (fold === null && isUndeclared(log) && !log.facts?.purpose) || isUnused(log, fold);
}

/** @returns the first session whose crash was not reported yet; null if there is none */
async function unreportedCrash(memory: Reporting, others: readonly Candidate[]): Promise<Look | null> {
  for (const other of others.filter(isUnreportedCrash)) {
    const look = await lookAt(memory, other);
    if (!isNothing(look)) return look;
  }
  return null;
}

/** @param crash one of the others, reported at length. Null if none is */
function furtherOf({ surroundings, stamp }: Viewer, others: readonly Candidate[], crash: Look | null): Section[] {
  const more = others.filter(({ id }) => id !== crash?.log.session_id);
  const crashed = more.filter(({ reason }) => reason === 'crashed').length;
  const which = crashed === 0 ? '' : `, ${crashed} of which crashed`;
  const count = `${counted(more.length, 'more unfinished session')} of this directory${which}: watchkeeper work list --here`;
  return [
    ...(crash === null ? [] : otherCrash(crash, surroundings.process, new Words(stamp.redact))),
    { title: '', entries: entries('rest', more.length === 0 ? [] : [count]) },
  ];
}

/**
 * @param subAgent its id. Null if the program does not report it
 * @returns the context for a sub-agent of the session. A resumed one has its first context already, and gets no text twice
 */
export async function delegatedContext(
  memory: Reporting,
  session: OpenSession,
  subAgent: string | null,
): Promise<GivenContext> {
  const log = session.log.state;
  // The transcript supplies a purpose or steps that were not declared.
  const isDeclared = log.steps.size > 0 && log.facts?.purpose;
  const { fold } = isDeclared ? { fold: null } : await lookAt(memory, session);
  return declaredContext(memory, session, subAgent, fold);
}

/** @returns the same, without a fold if its transcript takes too long to be read */
export function declaredContext(
  memory: Reporting,
  { log }: OpenSession,
  subAgent: string | null,
  fold: Observed | null = null,
): GivenContext {
  const last = subAgent === null ? undefined : log.state.given.get(subAgent);
  const level = last === undefined ? 'delegated' : 'resumed_delegated';
  const text = contextFor(recordView(memory, log.state, fold), level, { subAgent });
  return { level, text: last === digestOf(text) ? '' : text, notice: null, subAgent };
}

/** Writes to the session's worklog that its agent was given a context. */
export function noteGiven({ sessions }: Viewer, session: OpenSession, { level, text, subAgent }: GivenContext): void {
  if (text !== '') sessions.addFacts(session, [contextGiven(level, text, subAgent)], REPORTED);
}

function levelOf(source: Launch['source'], { facts }: Worklog): ContextLevel {
  if (source === 'clear' || source === 'compact') return 'compacted';
  if (source !== 'resume') return 'root';
  return facts?.parent == null ? 'resumed' : 'resumed_delegated';
}

/** @returns sessions of the workspace on which no agent works, as far as it can be seen here, the most urgent first */
function unfinished(memory: Reporting, except: string | null): readonly UnfinishedSession[] {
  const here = unfinishedIn(memory, memory.workspace, { except, most: MOST_LOOKED_AT });
  return mostUrgentFirst(here).filter(({ reason, log: { state } }) => {
    // Without a transcript nothing was asked; it would only be counted.
    const isUnasked = state.kept === null && !state.facts?.purpose && wasNeverAsked(memory, state);
    return reason !== 'at_work' && !isUnasked;
  });
}

/** Marks the session as reported, so that the next agent gets others first. A run elsewhere stays: its own host may still see a crash. */
function markReported(memory: Reporting, about: string, to: string): void {
  try {
    const isHere = (state: Worklog) => memory.runsOf(state).elsewhere === null;
    memory.sessions.addFacts(about, (state) => (isHere(state) ? [contextGivenTo(to)] : []), REPORTED);
  } catch (error) {
    // Its record takes no line, so it is reported once more. The start itself is recorded.
    if (!(error instanceof UnreachableError)) throw error;
  }
}
