import { UsageError } from '../../src/errors.js';
import { holderWords } from '../fold/holder.js';
import { type WorklogFields, worklogKind } from '../fold/rules/kind.js';
import { RefusedError } from '../logs/kind.js';
import type { Stamp } from '../logs/line.js';
import { addSteps, freeStepId } from '../plans/addedSteps.js';
import { callerHolder, claimFields, takenBy } from '../plans/holding.js';
import type { Continuing } from '../programs/afterEnd.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Listener } from '../sessions/views.js';
import { writeOrRefuse } from '../sessions/write.js';
import { afterMoves } from './ending.js';
import { choice, list, option, VALUE_OF_FLAG, word } from './fields.js';
import { meant } from './meant.js';
import { type Outcome, verb } from './verb.js';

const UNCLEAR = 'say one of --start, --done, --fail WHY, --retry, --skip WHY';

export const step = verb({
  name: 'step',
  summary:
    'move a step; its files become working, then done. After two retries only\na person may retry, with --override',
  fields: {
    step: word('ID'),
    to: choice('--start|--done|--retry|--fail WHY|--skip WHY', ['in_progress', 'completed', 'failed', 'skipped'], {
      flags: {
        start: { means: 'in_progress' },
        done: { means: 'completed' },
        retry: { means: 'in_progress' },
        fail: { means: 'failed', takes: 'reason' },
        skip: { means: 'skipped', takes: 'reason' },
      },
      unclear: UNCLEAR,
    }),
    reason: VALUE_OF_FLAG,
    file: list('[--file PATH]…\n       [--files A,B]', 'files'),
    override: option('[--override WHY]'),
    add: option('\n  step --add TITLE'),
  },
  run(memory, input) {
    const session = meant(memory, input);
    return input.add === undefined ? move(memory, session, input) : add(session, input.add.trim(), memory.stamp);
  },
});

interface Move {
  readonly step: string | undefined;
  readonly to: 'in_progress' | 'completed' | 'failed' | 'skipped' | undefined;
  readonly reason: string | undefined;
  readonly override: string | undefined;
  readonly file: readonly string[];
}

function move(
  memory: Continuing & Listener,
  session: OpenSession,
  { step: id, to, reason, override, file }: Move,
): Outcome {
  if (id === undefined) throw new UsageError('which step? For example: watchkeeper track step 1 --start');
  if (to === undefined) throw new UsageError(UNCLEAR);
  const reasons = { [to === 'failed' ? 'fail' : 'skip']: reason, override };
  for (const [option, why] of Object.entries(reasons))
    if (why?.trim() === '')
      throw new UsageError(`--${option} without a reason: say why, for example --${option} "the API is down"`);
  const paths = file.map((path) => memory.pathOf(path.trim(), session.log.state));
  const fields = { step: id, to, reason, override, paths };
  const former = to === 'in_progress' ? start(memory, session, fields) : null;
  if (to !== 'in_progress') writeOrRefuse(session, memory.stamp, () => [worklogKind.line('step', fields)]);
  const now = session.log.state.steps.get(id);
  const has = now?.status === 'failed' ? 'has' : 'is';
  const moved = `step ${id} ${has} ${now?.status.replace('_', ' ')}: ${now?.title}`;
  const value = { step: id, status: now?.status };
  const after = afterMoves(memory, session);
  const taken = former === null ? [] : [`taken over from ${former}, which is dead`];
  return { lines: [moved, ...taken, ...after.lines], value: { ...value, ...after.value }, ...after.more };
}

/**
 * The line is written also if another agent has the step, so that its refusal is counted.
 * @returns the agent that had the step and is proven dead, in words; null if none had it
 */
function start(memory: Continuing, session: OpenSession, fields: WorklogFields<'step'>): string | null {
  const claim = { step: fields.step, holder: callerHolder(memory) };
  let former: string | null = null;
  try {
    writeOrRefuse(session, memory.stamp, (state) => {
      const claimed = claimFields(memory.surroundings.process, state, claim);
      const held = state.steps.get(fields.step);
      former = claimed.takes === undefined || held === undefined ? null : holderWords(held);
      return [worklogKind.line('step', { ...fields, ...claimed })];
    });
    return former;
  } catch (error) {
    const isTaken = error instanceof RefusedError && error.code === 'taken';
    throw (isTaken ? takenBy(memory.surroundings.process, session.log.state, claim) : null) ?? error;
  }
}

function add(session: OpenSession, title: string, stamp: Stamp): Outcome {
  if (title === '') throw new UsageError('a step without a title: give --add some words');
  let next = '';
  const [refusal] = addSteps(session.log, stamp, (state) => {
    next = freeStepId(state);
    return [worklogKind.line('step_added', { step: next, title })];
  });
  if (refusal !== undefined) throw new RefusedError(refusal);
  return { lines: `step ${next} added`, value: { step: next } };
}
