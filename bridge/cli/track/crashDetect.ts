import { crashesHere, crashLines, elsewhereLines } from '../../../memory/brief/crashReport.js';
import { oneLine } from '../../../src/log/visibleText.js';
import type { ExitCode } from '../../command/command.js';
import { word } from '../../command/word.js';

export const crashDetect = word({
  usage: 'crash-detect',
  summary: 'sessions here whose agent died, and what to do; exit 1 if there is one',
  options: {},
  words: 0,
  async run({ memory, print }): Promise<ExitCode> {
    const reports = (await crashesHere(memory)).map(({ report }) => report);
    const elsewhere = [...(memory.claims.read(memory.workspace)?.sessions ?? [])].flatMap((id) => {
      const log = memory.look(id)?.log.state;
      if (log === undefined || log.archived !== null) return [];
      return elsewhereLines(log, memory.surroundings.process, oneLine).map((line) => `${id}: ${line}`);
    });
    const now = memory.clock.now();
    print(
      [
        reports
          .flatMap((report) => [...crashLines(report, now), ''])
          .join('\n')
          .trimEnd() || 'no crashed session here',
        ...elsewhere,
      ].join('\n'),
      reports,
    );
    if (memory.leftOut.length > 0) return 3;
    return reports.length === 0 ? 0 : 1;
  },
});
