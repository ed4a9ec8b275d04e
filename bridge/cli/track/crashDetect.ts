import { crashesHere, crashLines } from '../../../memory/brief/crashReport.js';
import type { ExitCode } from '../../command/command.js';
import { word } from '../../command/word.js';

export const crashDetect = word({
  usage: 'crash-detect',
  summary: 'sessions here whose agent died, and what to do; exit 1 if there is one',
  options: {},
  words: 0,
  async run({ memory, print }): Promise<ExitCode> {
    const reports = (await crashesHere(memory)).map(({ report }) => report);
    const now = memory.clock.now();
    print(
      reports
        .flatMap((report) => [...crashLines(report, now), ''])
        .join('\n')
        .trimEnd() || 'no crashed session here',
      reports,
    );
    if (memory.leftOut.length > 0) return 3;
    return reports.length === 0 ? 0 : 1;
  },
});
