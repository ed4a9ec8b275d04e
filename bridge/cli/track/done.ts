import { type WorklogLine, worklogKind } from '../../../memory/fold/rules/kind.js';
import type { Step, Worklog } from '../../../memory/fold/worklog.js';
import { writeOrRefuse } from '../../../memory/sessions/write.js';
import { stepLine, unsettledWords } from '../../../memory/show/status.js';
import type { EndReason } from '../../../memory/words.js';
import { UsageError } from '../../../src/errors.js';
import type { ExitCode } from '../../command/command.js';
import { endSession, undoneSteps } from '../../command/endSession.js';
import { sayLines } from '../../command/print.js';
import { word } from '../../command/word.js';

/** A session whose steps are open does not end as completed by mere saying so. */
const ENDS = ['failed', 'cancelled'] as const satisfies readonly EndReason[];

export const done = word({
  usage: 'done [--complete|--as failed|cancelled] [--summary TEXT]',
  summary: 'end the session',
  options: { complete: { type: 'boolean' }, as: { type: 'string' }, summary: { type: 'string' } },
  words: 0,
  async run(call): Promise<ExitCode> {
    const { memory, values, print, context } = call;
    const reason = reasonOf(values.as);
    if (values.complete && values.as !== undefined)
      throw new UsageError(
        `--complete and --as exclude each other: the session ends as completed, or as ${reason} with its steps as they are`,
      );
    const session = memory.which(values.session ?? null);
    const open = openSteps(session.log.state);
    if (open.length > 0 && !values.complete && values.as === undefined) {
      const titles = open.map((step) => `  ${stepLine(step)}`);
      sayLines(context.io, [
        `${unsettledWords(open)}:`,
        ...titles,
        'End it with --complete (what is in progress counts as completed, the rest as skipped), or with --as failed or --as cancelled (steps stay as they are).',
      ]);
      return 1;
    }
    const lines = values.complete ? settledSteps : () => [];
    const { summary } = values;
    if (memory.isBridges) {
      const kept = summary === undefined ? [] : [worklogKind.line('session_changed', { summary })];
      writeOrRefuse(session, memory.stamp, (state) => [...lines(state), ...kept]);
      const undone = undoneSteps(session);
      const said =
        undone.lines.length === 0
          ? `steps of session ${session.id} are settled; its bridge ends it`
          : `session ${session.id} goes on until its bridge ends it`;
      print([said, ...undone.lines], { session_id: session.id, reason: null, ...undone.value });
      return 0;
    }
    await endSession(call, session, { lines, reason, summary });
    return 0;
  },
});

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
