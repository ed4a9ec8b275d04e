import { UsageError } from '../../src/errors.js';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Step, Worklog } from '../fold/worklog.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { writeOrRefuse } from '../sessions/write.js';
import { stepLine, unsettledWords } from '../show/status.js';
import type { EndReason } from '../words.js';
import { endSession, undoneSteps } from './ending.js';
import { flag, option } from './fields.js';
import { meant } from './meant.js';
import { type Outcome, verb } from './verb.js';

/** A session whose steps are open does not end as completed by mere saying so. */
const ENDS = ['failed', 'cancelled'] as const satisfies readonly EndReason[];

export const done = verb({
  name: 'done',
  summary: 'end the session',
  fields: {
    complete: flag('[--complete|--as failed|cancelled]'),
    as: option(''),
    summary: option('[--summary TEXT]'),
  },
  run(memory, input): Outcome {
    const { complete, as, summary } = input;
    const reason = reasonOf(as);
    if (complete && as !== undefined)
      throw new UsageError(
        `--complete and --as exclude each other: the session ends as completed, or as ${reason} with its steps as they are`,
      );
    const session = meant(memory, input);
    const open = openSteps(session.log.state);
    if (open.length > 0 && !complete && as === undefined) return stillOpen(open);
    const lines = complete ? settledSteps : () => [];
    if (memory.isBridges) return settle(memory, session, { lines, summary });
    return endSession(memory, session, { lines, reason, summary });
  },
});

function stillOpen(steps: readonly Step[]): Outcome {
  const how =
    'End it with --complete (what is in progress counts as completed, the rest as skipped), or with --as failed or --as cancelled (steps stay as they are).';
  const titles = steps.map((step) => `  ${stepLine(step)}`);
  return { verdict: 'refused', lines: [`${unsettledWords(steps)}:`, ...titles, how], value: null };
}

/** A bridge ends its sessions itself. */
function settle(
  { stamp }: Pick<Memory, 'stamp'>,
  session: OpenSession,
  { lines, summary }: { lines(state: Worklog): readonly WorklogLine[]; readonly summary: string | undefined },
): Outcome {
  const kept = summary === undefined ? [] : [worklogKind.line('session_changed', { summary })];
  writeOrRefuse(session, stamp, (state) => [...lines(state), ...kept]);
  const undone = undoneSteps(session);
  const said =
    undone.lines.length === 0
      ? `steps of session ${session.id} are settled; its bridge ends it`
      : `session ${session.id} goes on until its bridge ends it`;
  return { lines: [said, ...undone.lines], value: { session_id: session.id, reason: null, ...undone.value } };
}

function openSteps({ steps }: Worklog): Step[] {
  return [...steps.values()].filter(({ status }) => status === 'pending' || status === 'in_progress');
}

function settledSteps(state: Worklog): WorklogLine[] {
  return openSteps(state).map(({ id, status }) =>
    worklogKind.line('step', { step: id, to: status === 'pending' ? 'skipped' : 'completed', assumed: true }),
  );
}

function reasonOf(as: string | undefined): EndReason {
  if (as === undefined) return 'completed';
  const reason = ENDS.find((known) => known === as);
  if (reason !== undefined) return reason;
  const why = as === 'completed' ? '; without --as it ends as completed, with --complete also if steps are open' : '';
  throw new UsageError(`--as ${JSON.stringify(as)}: one of ${ENDS.join(', ')}${why}`);
}
