import { crashesHere, crashLines, crashOf, elsewhereLines } from '../../../memory/brief/crashReport.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { oneLine } from '../../../src/log/visibleText.js';
import type { ExitCode } from '../../command/command.js';
import { word } from '../../command/word.js';

export const crashDetect = word({
  usage: 'crash-detect',
  summary: 'sessions here, or the one of --session, whose agent died, and\n      what to do; exit 1 if there is one',
  options: {},
  words: 0,
  async run({ memory, values, print }): Promise<ExitCode> {
    const named = values.session === undefined ? null : memory.which(values.session);
    const crashes = named === null ? await crashesHere(memory) : [{ report: await crashOf(memory, named) }];
    const reports = crashes.flatMap(({ report }) => report ?? []);
    const looked = named === null ? sessionsHere(memory) : [named];
    const elsewhere = looked.flatMap(({ id, log: { state } }) =>
      elsewhereLines(state, memory.surroundings.process, oneLine).map((line) => `${id}: ${line}`),
    );
    const now = memory.clock.now();
    const none = named === null ? 'no crashed session here' : `session ${named.id} has not crashed`;
    const lines = reports.flatMap((report, index) => [...(index === 0 ? [] : ['']), ...crashLines(report, now)]);
    print([...(lines.length === 0 ? [none] : lines), ...elsewhere], reports);
    if (memory.leftOut.length > 0) return 3;
    return reports.length === 0 ? 0 : 1;
  },
});

function sessionsHere(memory: Memory): OpenSession[] {
  return [...(memory.claims.read(memory.workspace)?.sessions ?? [])]
    .flatMap((id) => memory.look(id) ?? [])
    .filter(({ log }) => log.state.archived === null);
}
