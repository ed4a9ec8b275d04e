import { oneLine } from '../../src/log/visibleText.js';
import { crashesHere, crashLines, crashOf, elsewhereLines } from '../brief/crashReport.js';
import { unfinishedIn } from '../sessions/unfinished.js';
import { type Outcome, verb } from './verb.js';

export const crashDetect = verb({
  name: 'crash-detect',
  summary: 'sessions here, or the one of --session, whose agent died, and\nwhat to do; exit 1 if there is one',
  fields: {},
  async run(memory, { session }): Promise<Outcome> {
    const named = session === undefined ? null : memory.which(session);
    const here = named === null ? unfinishedIn(memory, memory.workspace) : [];
    const crashes = named === null ? await crashesHere(memory, here) : [{ report: await crashOf(memory, named) }];
    const reports = crashes.flatMap(({ report }) => report ?? []);
    const elsewhere = (named === null ? here : [named]).flatMap(({ id, log: { state } }) =>
      elsewhereLines(state, memory.surroundings.process, oneLine).map((line) => `${id}: ${line}`),
    );
    const now = memory.clock.now();
    const none = named === null ? 'no crashed session here' : `session ${named.id} has not crashed`;
    const lines = reports.flatMap((report, index) => [...(index === 0 ? [] : ['']), ...crashLines(report, now)]);
    const verdict = memory.leftOut.length > 0 ? 'partial' : reports.length > 0 ? 'found' : undefined;
    return {
      lines: [...(lines.length === 0 ? [none] : lines), ...elsewhere],
      value: reports,
      ...(verdict !== undefined && { verdict }),
    };
  },
});
