/** How a session is, whole, for a program: also that there is none. */
import { unsettledOf } from '../fold/state.js';
import { computedOf, type Look, lookAt } from '../look/look.js';
import { stepsOf } from '../observed/step.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { UnclearError } from '../sessions/unclear.js';
import { type Outcome, verb } from './verb.js';

export const sessionStatus = verb({
  name: 'session-status',
  summary: 'how the session is, and what comes next',
  fields: {},
  async run(memory, { session: named }, door): Promise<Outcome> {
    const session = named === undefined ? impliedOf(memory) : memory.which(named);
    if (session === null) return { lines: null, value: { exists: false, workspace: memory.workspace.root } };
    const look = await lookAt(memory, session, { judge: door.judge });
    const { condition, state } = look;
    return {
      lines: null,
      value: {
        exists: true,
        ...state,
        ...computedOf(look),
        attention: condition.doing,
        stuck: condition.stuck !== null,
        unresolved_errors: state.errors.filter((error) => 'resolved' in error && !error.resolved),
        next: nextIn(look),
      },
    };
  },
});

/** @returns null if no session is meant @throws UnclearError if several may be */
function impliedOf(memory: Memory): OpenSession | null {
  const implied = memory.implied();
  if (implied !== null) return implied;
  const none = memory.unclear();
  if (none instanceof UnclearError) throw none;
  return null;
}

/** @returns the steps that can be worked on now: those in progress, else those that wait for nothing */
function nextIn({ log, fold }: Look): { readonly step: string; readonly status: string; readonly title: string }[] {
  const open = unsettledOf(stepsOf({ log, fold }));
  const working = open.filter(({ status }) => status === 'in_progress');
  const isFree = (id: string) =>
    (log.steps.get(id)?.blocked_by ?? []).every((blocker) => {
      const status = log.steps.get(blocker)?.status;
      return status === 'completed' || status === 'skipped';
    });
  const next = working.length > 0 ? working : open.filter(({ id }) => isFree(id));
  return next.map(({ id, status, title }) => ({ step: id, status, title }));
}
