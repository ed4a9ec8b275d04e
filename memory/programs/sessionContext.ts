/** What the model of a program is told when one of its conversations begins or goes on, and what is shown to the person. */

import { counted } from '../../src/counted.js';
import { UnreachableError } from '../../src/errors.js';
import type { Section } from '../brief/budget.js';
import type { Changing } from '../brief/changesSince.js';
import { contextGiven, contextTold, digestOf } from '../brief/contextGiven.js';
import { crashBeside } from '../brief/crashReport.js';
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
import { noticeBeside, noticeOf } from './notice.js';
import { wasNeverAsked } from './runEnd.js';

/** Of one workspace, the newest first. */
const MOST_LOOKED_AT = 50;
/** May be lost in a power failure; the crash is then reported twice. */
const REPORTED = { by: 'watchkeeper', isDurable: false } as const;

export interface GivenContext {
  readonly level: ContextLevel;
  /** For the model; empty: nothing. */
  readonly text: string;
  /** For the person, in lines; null: nothing. */
  readonly notice: string | null;
  /** For whom it is; missing: the main agent. */
  readonly subAgent?: string | null;
}

/** Sees the sessions of a directory, and what becomes of them. */
type Telling = Viewer & Changing & Pick<Memory, 'bindings' | 'claims' | 'isBridges' | 'look'>;

/** A session of which a start may be told. */
type Candidate = OpenSession & Partial<Pick<UnfinishedSession, 'reason'>>;

/** @returns the sessions of which the start of a conversation may be told, the first of them if there is something to tell */
export function toldAtStart(
  memory: Telling,
  { session, before }: StartedConversation,
  { source }: Launch,
): readonly Candidate[] {
  // Who goes on with a conversation was told of the others when it began.
  if (levelOf(source, session.log.state) !== 'root') return [before ?? session];
  // A session that it comes to; one that begins is told of the one before.
  return [...(before === null ? [] : [before]), ...unfinished(memory, session.id)];
}

/**
 * @param candidates of {@link toldAtStart}
 * @returns what is told at the start of a conversation
 */
export async function startContext(
  memory: Telling,
  started: StartedConversation,
  launch: Launch,
  candidates = toldAtStart(memory, started, launch),
): Promise<GivenContext> {
  const { session } = started;
  const { about, given } = await contextOfFirst(memory, candidates, { source: launch.source, own: session });
  // Who runs to its end with nobody before it keeps no crash from the person, or from the agent that comes then.
  if (hasScreen(memory.surroundings, launch.agent))
    for (const id of about) if (id !== session.id) markTold(memory, id, session.id);
  return given;
}

/** @returns what is told at the start of a conversation of which nothing can be recorded; it writes nothing, either */
export async function unrecordedContext(memory: Telling, launch: Launch): Promise<GivenContext> {
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
 * @param own the session of the conversation; null: it has none
 * @returns the context about the first session of which there is something to tell, and of which ones it tells; else the notes of the
 *   directory. Who comes to a session is told of that one first, and then of a crash beside it
 */
async function contextOfFirst(
  memory: Telling,
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
    const beside = isOwn ? await untoldCrash(memory, others) : null;
    const text = contextFor(viewOf(memory, look), level, { further: furtherOf(memory, others, beside), isOwn });
    const { redact } = memory.stamp;
    const notices = [
      level === 'root' || level === 'resumed' ? noticeOf(look, redact) : null,
      beside === null ? null : noticeBeside(beside, redact),
    ].filter((line) => line !== null);
    const told = [about.id, ...(beside === null ? [] : [beside.log.session_id ?? ''])];
    return { about: told, given: { level, text, notice: notices.length === 0 ? null : notices.join('\n') } };
  }
  return { about: [], given: { level, text: notesFor(recordView(memory, log), level), notice: null } };
}

function isNothing({ log, fold }: Look): boolean {
  return (fold === null && isUndeclared(log) && !log.facts?.purpose) || isUnused(log, fold);
}

/** @returns the first of the sessions that crashed and of which nobody was told; null if none did */
async function untoldCrash(memory: Telling, others: readonly Candidate[]): Promise<Look | null> {
  for (const other of others.filter(isUnreportedCrash)) {
    const look = await lookAt(memory, other);
    if (!isNothing(look)) return look;
  }
  return null;
}

/** @param beside one of the others, of which more is told; null: of none */
function furtherOf({ surroundings, stamp }: Viewer, others: readonly Candidate[], beside: Look | null): Section[] {
  const more = others.filter(({ id }) => id !== beside?.log.session_id);
  const crashed = more.filter(({ reason }) => reason === 'crashed').length;
  const which = crashed === 0 ? '' : `, ${crashed} of which crashed`;
  const count = `${counted(more.length, 'more unfinished session')} of this directory${which}: watchkeeper work list --here`;
  return [
    ...(beside === null ? [] : crashBeside(beside, surroundings.process, new Words(stamp.redact))),
    { title: '', entries: entries('rest', more.length === 0 ? [] : [count]) },
  ];
}

/**
 * @param subAgent its id; null: the program does not say
 * @returns what a sub-agent of the session is told. One that goes on has its first context already, and nothing is told twice
 */
export async function delegatedContext(
  memory: Telling,
  session: OpenSession,
  subAgent: string | null,
): Promise<GivenContext> {
  const log = session.log.state;
  // What nobody has declared, its transcript knows.
  const isDeclared = log.steps.size > 0 && log.facts?.purpose;
  const { fold } = isDeclared ? { fold: null } : await lookAt(memory, session);
  return declaredContext(memory, session, subAgent, fold);
}

/** @returns the same, without a fold if its transcript takes too long to be read */
export function declaredContext(
  memory: Telling,
  { log }: OpenSession,
  subAgent: string | null,
  fold: Observed | null = null,
): GivenContext {
  const last = subAgent === null ? undefined : log.state.given.get(subAgent);
  const level = last === undefined ? 'delegated' : 'resumed_delegated';
  const text = contextFor(recordView(memory, log.state, fold), level, { subAgent });
  return { level, text: last === digestOf(text) ? '' : text, notice: null, subAgent };
}

/** Notes in the session's worklog what was given. */
export function noteGiven({ sessions }: Viewer, session: OpenSession, { level, text, subAgent }: GivenContext): void {
  if (text !== '') sessions.addFacts(session, [contextGiven(level, text, subAgent)], REPORTED);
}

function levelOf(source: Launch['source'], { facts }: Worklog): ContextLevel {
  if (source === 'clear' || source === 'compact') return 'compacted';
  if (source !== 'resume') return 'root';
  return facts?.parent == null ? 'resumed' : 'resumed_delegated';
}

/** @returns sessions of the workspace on which no agent works, as far as it can be seen here, the most urgent first */
function unfinished(memory: Telling, except: string | null): readonly UnfinishedSession[] {
  const here = unfinishedIn(memory, memory.workspace, { except, most: MOST_LOOKED_AT });
  return mostUrgentFirst(here).filter(({ reason, log: { state } }) => {
    // Without a transcript nothing was asked; it would only be counted.
    const isUnasked = state.kept === null && !state.facts?.purpose && wasNeverAsked(memory, state);
    return reason !== 'at_work' && !isUnasked;
  });
}

/** Whoever starts next need not hear of the crash first again; of what cannot be seen here, its own host may still say that it crashed. */
function markTold(memory: Telling, about: string, to: string): void {
  try {
    const isHere = (state: Worklog) => memory.runsOf(state).elsewhere === null;
    memory.sessions.addFacts(about, (state) => (isHere(state) ? [contextTold(to)] : []), REPORTED);
  } catch (error) {
    // Its record takes no line, so it is told once more. The start itself is recorded.
    if (!(error instanceof UnreachableError)) throw error;
  }
}
