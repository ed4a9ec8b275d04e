/** The context that a model gets when a conversation of its program begins or resumes, and the notice for the person. */

import { counted } from '../../src/counted.js';
import { UnreachableError } from '../../src/errors.js';
import type { Section } from '../brief/budget.js';
import { contextGivenTo } from '../brief/contextGiven.js';
import { otherCrash } from '../brief/crashReport.js';
import { lessonsFor } from '../brief/lessons.js';
import type { ContextLevel } from '../brief/levels.js';
import { entries, Words } from '../brief/observedSections.js';
import { noticeOfOffers, offersOf } from '../brief/offers.js';
import { proofOf } from '../brief/proof.js';
import { contextFor, notesFor, unshownContext } from '../brief/resumeContext.js';
import { recordView, viewOf } from '../brief/view.js';
import { isToBeReported } from '../condition/weight.js';
import { newWorklog } from '../fold/newWorklog.js';
import { isUndeclared, isUnused } from '../fold/unused.js';
import type { Worklog } from '../fold/worklog.js';
import { onOfferTo } from '../handoffs/onOffer.js';
import { type Look, lookAt } from '../look/look.js';
import { keepMark, type Weighed } from '../look/marks.js';
import { likelyFirst } from '../look/unfinished.js';
import { hasScreen } from '../sessions/agentProcess.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { type Around, aroundHere, besideLines, type Reporting, restingLine, type Taken, takenBy } from './around.js';
import type { Launch, StartedConversation } from './conversationStart.js';
import { type GivenContext, REPORTED } from './delegatedContext.js';
import { noticeOf, noticeOfOther, noticeOfUnread } from './notice.js';

/**
 * @param until when no more sessions are weighed, UTC epoch milliseconds
 * @returns the context for the start of a conversation
 */
export async function startContext(
  memory: Reporting,
  { session, before }: StartedConversation,
  { source, agent }: Launch,
  until = Number.POSITIVE_INFINITY,
): Promise<GivenContext> {
  const level = levelOf(source, session.log.state);
  const isRoot = level === 'root';
  const joined = isRoot ? before : (before ?? session);
  const { about, given } = await contextOf(memory, joined, { level, own: session, isRoot, until });
  // An agent without a screen does not use up the report of a crash: the person and the next agent still get it.
  if (hasScreen(memory.surroundings, agent))
    for (const id of about) if (id !== session.id) markReported(memory, id, session.id);
  return given;
}

/** @returns the context for a start that may not wait any longer for the records */
export function lateContext(memory: Reporting, { session, before }: StartedConversation): GivenContext {
  const id = before?.id ?? likelyFirst(memory, session.id);
  if (id === null) return { level: 'root', text: '', notice: null };
  const log = memory.look(id)?.log.state;
  const isLost = log !== undefined && memory.runsOf(log).isLost;
  const proof = isLost ? proofOf(log, null, memory.surroundings.process) : null;
  return { level: 'root', text: unshownContext(id, proof), notice: isLost ? noticeOfUnread(id) : null };
}

/** @returns the context for the start of a conversation that cannot be recorded. Writes nothing to the session */
export async function unrecordedContext(memory: Reporting, launch: Launch, until: number): Promise<GivenContext> {
  const { source, agent } = launch;
  const isSame = source === 'clear' || source === 'compact';
  const bound = isSame && agent !== null ? memory.bindings.sessionOf({ process: agent }) : null;
  const id = memory.bindings.sessionOf(launch) ?? bound;
  const known = id === null ? null : memory.look(id);
  const own = known === null || known.log.state.lifecycle === 'ended' ? null : known;
  const isRoot = levelOf(source, newWorklog()) === 'root';
  const level = levelOf(source, own?.log.state ?? newWorklog());
  const { about, given } = await contextOf(memory, null, { level, own: { id: id ?? '' }, isRoot, until });
  if (about.length > 0 || own === null) return given;
  return (await contextOf(memory, own, { level, own, isRoot: false, until })).given;
}

interface Reader {
  readonly level: ContextLevel;
  /** The session of the conversation. */
  readonly own: Pick<OpenSession, 'id'>;
  /** Whether it hears of other sessions. A resumed conversation did, when it began. */
  readonly isRoot: boolean;
  readonly until: number;
}

/**
 * @param joined the session that the conversation joins, or resumes. Null if it has one of its own
 * @returns the context, and the ids of the sessions that it reports at length
 */
async function contextOf(
  memory: Reporting,
  joined: OpenSession | null,
  { level, own, isRoot, until }: Reader,
): Promise<{ readonly about: readonly string[]; readonly given: GivenContext }> {
  const around = isRoot ? await aroundHere(memory, own.id, until) : NOTHING;
  const known = joined === null ? null : await lookAt(memory, joined);
  const picked = known === null || isNothing(known) ? await heaviest(memory, around.unfinished) : NONE_TAKEN;
  const look = picked === NONE_TAKEN ? known : picked.look;
  const handoffs = level === 'root' || level === 'resumed' ? onOfferTo(memory, own.id) : [];
  const beside = [
    ...besideLines(memory, around.atWork, picked.taken),
    ...(level === 'root' ? lessonsFor(memory, own.id, new Words(memory.stamp.redact)) : []),
    ...offersOf(handoffs, new Words(memory.stamp.redact)),
  ];
  const offers = level === 'root' ? noticeOfOffers(handoffs) : null;
  if (look === null) {
    const pinned = notesFor(recordView(memory, joined?.log.state ?? newWorklog()), level, beside);
    const text = pinned !== '' || around.resting === null ? pinned : restingLine(around.resting, around.takenUp);
    return { about: [], given: { level, text, notice: offers } };
  }
  const id = look.log.session_id ?? '';
  const isOwn = id === own.id;
  const isNamed = (other: string) => other === id || picked.taken.some((one) => one.id === other);
  const more = around.unfinished.filter((other) => !isNamed(other.id));
  const crash = isOwn ? await firstUntold(memory, more) : null;
  const further = [...beside, ...furtherOf(memory, more, crash)];
  const text = contextFor(viewOf(memory, look), level, { further, isOwn });
  const { redact } = memory.stamp;
  const notices = [
    level === 'root' || level === 'resumed' ? noticeOf(look, redact) : null,
    crash === null ? null : noticeOfOther(crash, redact),
    offers,
  ].filter((line) => line !== null);
  const reported = [id, ...(crash === null ? [] : [crash.log.session_id ?? ''])];
  return { about: reported, given: { level, text, notice: notices.length === 0 ? null : notices.join('\n') } };
}

const NOTHING: Around = { unfinished: [], takenUp: 0, atWork: [], resting: null };
const NONE_TAKEN = { look: null, taken: [] } as const;

function isNothing({ log, fold, isUnseen, condition }: Look): boolean {
  // Its task cannot be seen. It can be seen that it crashed.
  if (isUnseen && condition.agent === 'crashed') return false;
  return (fold === null && isUndeclared(log) && !log.facts?.purpose) || isUnused(log, fold, isUnseen);
}

/** @returns the heaviest session that has something to show, and those before it that are left to other agents */
async function heaviest(
  memory: Reporting,
  unfinished: readonly Weighed[],
): Promise<{ readonly look: Look | null; readonly taken: readonly Taken[] }> {
  const taken: Taken[] = [];
  for (const { id, isInterrupted } of unfinished) {
    const session = memory.look(id);
    const other = session === null ? null : takenBy(memory, session, isInterrupted);
    if (other !== null) taken.push(other);
    const look = session === null || other !== null ? null : await lookAt(memory, session);
    // Others may have finished it since it was weighed.
    if (look !== null && !isNothing(look) && isToBeReported(look.condition)) return { look, taken };
  }
  return { look: null, taken };
}

/** @returns the heaviest session whose agent was interrupted, and whose record no agent was given; null if there is none */
async function firstUntold(memory: Reporting, others: readonly Weighed[]): Promise<Look | null> {
  for (const { id } of others.filter(({ isInterrupted }) => isInterrupted)) {
    const session = memory.look(id);
    const look = session === null || session.log.state.told !== null ? null : await lookAt(memory, session);
    if (look !== null && !isNothing(look) && isToBeReported(look.condition)) return look;
  }
  return null;
}

/** @param crash one of the others, reported at length. Null if none is */
function furtherOf({ surroundings, stamp }: Viewer, others: readonly Weighed[], crash: Look | null): Section[] {
  const more = others.filter(({ id }) => id !== crash?.log.session_id);
  const count = more.filter(({ isInterrupted }) => isInterrupted).length;
  const which = count === 0 ? '' : ` (${count} crashed or ${count === 1 ? 'was' : 'were'} cut off)`;
  const words = `${counted(more.length, 'more unfinished session')} of this directory${which}: watchkeeper work list --here`;
  return [
    ...(crash === null ? [] : otherCrash(crash, surroundings.process, new Words(stamp.redact))),
    { title: '', entries: entries('rest', more.length === 0 ? [] : [words]) },
  ];
}

function levelOf(source: Launch['source'], { facts }: Worklog): ContextLevel {
  if (source === 'clear' || source === 'compact') return 'compacted';
  if (source !== 'resume') return 'root';
  return facts?.parent == null ? 'resumed' : 'resumed_delegated';
}

/** Marks the session as reported, so that the next agent gets others first. A run elsewhere stays: its own host may still see a crash. */
function markReported(memory: Reporting, about: string, to: string): void {
  try {
    const isHere = (state: Worklog) => memory.runsOf(state).elsewhere === null;
    // The line says nothing of the work, so it weighs what it weighed.
    keepMark(memory, about, () =>
      memory.sessions.addFacts(about, (state) => (isHere(state) ? [contextGivenTo(to)] : []), REPORTED),
    );
  } catch (error) {
    // Its record takes no line, so it is reported once more. The start itself is recorded.
    if (!(error instanceof UnreachableError)) throw error;
  }
}
