/** The context that a sub-agent gets, and the note of any context that was given. An agent waits for both, so they load little else. */
import { contextGiven, digestOf } from '../brief/contextGiven.js';
import type { ContextLevel } from '../brief/levels.js';
import { contextFor } from '../brief/resumeContext.js';
import { recordView } from '../brief/view.js';
import { lookAt } from '../look/look.js';
import type { Observed } from '../observed/observed.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';

/** May be lost in a power failure; the crash is then reported twice. */
export const REPORTED = { by: 'watchkeeper', isDurable: false } as const;

export interface GivenContext {
  readonly level: ContextLevel;
  /** For the model; empty if there is nothing to report. */
  readonly text: string;
  /** For the person, in lines; null if there is nothing to report. */
  readonly notice: string | null;
  /** The id of the sub-agent that reads it, if it has one. */
  readonly subAgent?: string | null;
}

/**
 * @param subAgent its id. Null if the program does not report it
 * @returns the context for a sub-agent of the session. A resumed one has its first context already, and gets no text twice
 */
export async function delegatedContext(
  memory: Viewer,
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
  memory: Viewer,
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
