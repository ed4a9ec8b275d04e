/** The context that a model gets when a conversation of its program begins or resumes, and the notice for the person. */

import { counted } from '../../src/counted.js';
import { UnreachableError } from '../../src/errors.js';
import type { Section } from '../brief/budget.js';
import { contextGiven, contextGivenTo, digestOf } from '../brief/contextGiven.js';
import { otherCrash } from '../brief/crashReport.js';
import type { ContextLevel } from '../brief/levels.js';
import { entries, Words } from '../brief/observedSections.js';
import { contextFor, notesFor } from '../brief/resumeContext.js';
import { recordView, viewOf } from '../brief/view.js';
import { isInterrupted } from '../condition/words.js';
import { newWorklog } from '../fold/newWorklog.js';
import { isUndeclared, isUnused } from '../fold/unused.js';
import type { Worklog } from '../fold/worklog.js';
import { type Look, lookAt } from '../look/look.js';
import type { Weighed } from '../look/unfinished.js';
import type { Observed } from '../observed/observed.js';
import { hasScreen } from '../sessions/agentProcess.js';
import { mostUrgentFirst, type OpenHere, openIn } from '../sessions/openHere.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { aroundHere, besideLines, type Reporting, restingLine } from './around.js';
import type { Launch, StartedConversation } from './conversationStart.js';
import { noticeOf, noticeOfOther } from './notice.js';
import { wasNeverAsked } from './runEnd.js';

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

/** The sessions that may be reported at a start. */
export interface Candidates {
  /** The one that the conversation joins, or resumes. Null if it has one of its own. */
  readonly own: OpenSession | null;
  readonly others: readonly OpenHere[];
}

/**
 * @returns the sessions that the start of a conversation may report: its own, if it has one already; then the others here. They are not
 *   weighed yet, because that takes a look at what was observed of each
 */
export function sessionsToReport(
  memory: Reporting,
  { session, before }: StartedConversation,
  { source }: Launch,
): Candidates {
  // A resumed conversation got the report on the others when it began.
  if (levelOf(source, session.log.state) !== 'root') return { own: before ?? session, others: [] };
  return { own: before, others: othersHere(memory, session.id) };
}

/**
 * @param candidates of {@link sessionsToReport}
 * @param until when no more sessions are weighed, UTC epoch milliseconds
 * @returns the context for the start of a conversation
 */
export async function startContext(
  memory: Reporting,
  started: StartedConversation,
  launch: Launch,
  until = Number.POSITIVE_INFINITY,
  candidates = sessionsToReport(memory, started, launch),
): Promise<GivenContext> {
  const { session } = started;
  const level = levelOf(launch.source, session.log.state);
  const { about, given } = await contextOf(memory, candidates, { level, own: session, until });
  // An agent without a screen does not use up the report of a crash: the person and the next agent still get it.
  if (hasScreen(memory.surroundings, launch.agent))
    for (const id of about) if (id !== session.id) markReported(memory, id, session.id);
  return given;
}

/** @returns the context for the start of a conversation that cannot be recorded. Writes nothing */
export async function unrecordedContext(memory: Reporting, launch: Launch, until: number): Promise<GivenContext> {
  const { source, agent } = launch;
  const isSame = source === 'clear' || source === 'compact';
  const bound = isSame && agent !== null ? memory.bindings.sessionOf({ process: agent }) : null;
  const id = memory.bindings.sessionOf(launch) ?? bound;
  const known = id === null ? null : memory.look(id);
  const own = known === null || known.log.state.lifecycle === 'ended' ? null : known;
  const others = levelOf(source, newWorklog()) === 'root' ? othersHere(memory, id) : [];
  const level = levelOf(source, own?.log.state ?? newWorklog());
  return (await contextOf(memory, { own: others.length > 0 ? null : own, others }, { level, own, until })).given;
}

interface Reader {
  readonly level: ContextLevel;
  /** The session of the conversation. Null if it has none. */
  readonly own: OpenSession | null;
  readonly until: number;
}

/** @returns the context, and the ids of the sessions that it reports at length */
async function contextOf(
  memory: Reporting,
  { own: joined, others }: Candidates,
  { level, own, until }: Reader,
): Promise<{ readonly about: readonly string[]; readonly given: GivenContext }> {
  const around = await aroundHere(memory, others, until);
  const look = joined === null ? null : await lookAt(memory, joined);
  const first = look === null || isNothing(look) ? await firstWithRecord(memory, around.unfinished) : look;
  const { redact } = memory.stamp;
  if (first === null) {
    const beside = besideLines(memory, around);
    const pinned = notesFor(recordView(memory, own?.log.state ?? newWorklog()), level, beside);
    const text = pinned !== '' || around.resting === null ? pinned : restingLine(around.resting);
    return { about: [], given: { level, text, notice: null } };
  }
  const id = first.log.session_id ?? '';
  const isOwn = id === own?.id;
  const more = around.unfinished.filter(({ session }) => session.id !== id);
  const crash = isOwn ? await firstInterrupted(memory, more) : null;
  const further = [...besideLines(memory, around), ...furtherOf(memory, more, crash)];
  const text = contextFor(viewOf(memory, first), level, { further, isOwn });
  const notices = [
    level === 'root' || level === 'resumed' ? noticeOf(first, redact) : null,
    crash === null ? null : noticeOfOther(crash, redact),
  ].filter((line) => line !== null);
  const reported = [id, ...(crash === null ? [] : [crash.log.session_id ?? ''])];
  return { about: reported, given: { level, text, notice: notices.length === 0 ? null : notices.join('\n') } };
}

function isNothing({ log, fold }: Look): boolean {
  return (fold === null && isUndeclared(log) && !log.facts?.purpose) || isUnused(log, fold);
}

async function firstWithRecord(memory: Reporting, unfinished: readonly Weighed[]): Promise<Look | null> {
  for (const { session } of unfinished) {
    const look = await lookAt(memory, session);
    if (!isNothing(look)) return look;
  }
  return null;
}

/** @returns the heaviest session whose agent was interrupted, and of which no agent was told; null if there is none */
function firstInterrupted(memory: Reporting, others: readonly Weighed[]): Promise<Look | null> {
  const isNew = ({ session, condition }: Weighed) => isInterrupted(condition) && session.log.state.told === null;
  return firstWithRecord(memory, others.filter(isNew));
}

/** @param crash one of the others, reported at length. Null if none is */
function furtherOf({ surroundings, stamp }: Viewer, others: readonly Weighed[], crash: Look | null): Section[] {
  const more = others.filter(({ session }) => session.id !== crash?.log.session_id);
  const count = more.filter(({ condition }) => isInterrupted(condition)).length;
  const which = count === 0 ? '' : `, ${count} of which crashed or ${count === 1 ? 'was' : 'were'} cut off`;
  const words = `${counted(more.length, 'more unfinished session')} of this directory${which}: watchkeeper work list --here`;
  return [
    ...(crash === null ? [] : otherCrash(crash, surroundings.process, new Words(stamp.redact))),
    { title: '', entries: entries('rest', more.length === 0 ? [] : [words]) },
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

/** @returns the other sessions here that have not ended, those whose agents are lost first */
function othersHere(memory: Reporting, except: string | null): readonly OpenHere[] {
  return mostUrgentFirst(openIn(memory, memory.workspace, except)).filter(({ log: { state } }) => {
    // Without a transcript nothing was asked; it would only be counted.
    return state.kept !== null || state.facts?.purpose || !wasNeverAsked(memory, state);
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
