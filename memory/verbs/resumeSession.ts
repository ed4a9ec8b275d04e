import * as z from 'zod/mini';
import { UsageError } from '../../src/errors.js';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { lookAt } from '../look/look.js';
import { conflictsOf } from '../plans/conflicts.js';
import { callerHolder, startFields } from '../plans/holding.js';
import { branchOf, nextPhases, openErrors, positionOf } from '../plans/position.js';
import type { Caller, Viewer } from '../sessions/views.js';
import { writeOrRefuse } from '../sessions/write.js';
import { CHANGES, changeOf } from './change.js';
import { afterMoves, endSession } from './ending.js';
import { given, type Input, WORDS_IF_ANY } from './fields.js';
import { ID_SCHEMA } from './planFields.js';
import { planMeant } from './planMeant.js';
import { resumeWith } from './resumeWith.js';
import { verb } from './verb.js';

const FIELDS = {
  decision: given(z.optional(z.enum(['retry', 'skip', 'abort', 'adjust']))),
  phase_id: given(z.optional(ID_SCHEMA)),
  reason: given(WORDS_IF_ANY),
  decided_by: given(z.optional(z.enum(['agent', 'person']))),
  agent: given(WORDS_IF_ANY),
  ...CHANGES,
};

export const resumeSession = verb({
  name: 'resume_session',
  summary: 'continue a session: where its plan stands, its errors, what has changed; with a decision, act on it',
  fields: FIELDS,
  async run(memory, input) {
    const session = await planMeant(memory, input.session);
    const { decision } = input;
    requireChanges(input);
    // Looked for before anything is changed.
    const before = await lookAt(memory, session);
    const conflicts = conflictsOf(memory, before, memory.workspaceOf(before.log) ?? memory.workspace);
    if (decision === 'abort') {
      const ended = endSession(memory, session, { lines: () => [], reason: 'cancelled', summary: input.reason });
      return { ...ended, value: { ...Object(ended.value), decision } };
    }
    const { folder } = memory.isBridges ? session : resumeWith(memory, session);
    if (decision !== undefined) writeOrRefuse(session, memory.stamp, (state) => linesOf(memory, state, input));
    const { state } = session.log;
    const after = decision === 'skip' ? afterMoves(memory, session) : null;
    return {
      lines: null,
      ...after?.more,
      value: {
        session_id: session.id,
        path: after?.archived ?? folder,
        ...(decision !== undefined && { decision }),
        position: positionOf(state),
        errors: openErrors(state),
        conflicts,
        branch: branchOf(state),
        legal_next: nextPhases(state),
        ...after?.value,
      },
    };
  },
});

function requireChanges({
  session: _,
  decision,
  phase_id,
  reason,
  decided_by,
  agent,
  ...changes
}: Input<typeof FIELDS>) {
  const hasChanges = Object.values(changes).some((value) => value !== undefined);
  if (hasChanges !== (decision === 'adjust'))
    throw new UsageError(
      'with the decision "adjust", and only then, give fields of update_session, such as execution_mode',
    );
}

function linesOf(memory: Viewer & Caller, state: Worklog, input: Input<typeof FIELDS>): WorklogLine[] {
  const { session: _, decision, phase_id, reason, decided_by, agent, ...changes } = input;
  const step = phaseOf(state, phase_id);
  if (decision === 'skip') return [worklogKind.line('step', { step, to: 'skipped', reason, decided_by })];
  const held = startFields(memory.surroundings.process, state, { step, agent, holder: callerHolder(memory) });
  const start = worklogKind.line('step', { step, to: 'in_progress', agent, ...held });
  return decision === 'adjust' ? [changeOf(memory, changes), start] : [start];
}

/** @returns the named phase, else the only one that failed, else the one that is due */
function phaseOf(state: Worklog, named: string | number | undefined): string {
  if (named !== undefined) return String(named);
  const { failed, current } = positionOf(state);
  if (failed.length > 1)
    throw new UsageError(`${failed.length} phases failed; name one in phase_id: ${failed.join(', ')}`);
  const only = failed[0] ?? current;
  if (only === null) throw new UsageError('the session has no phases');
  return only;
}
