import { crashLines, crashReport } from '../../../memory/brief/crashReport.js';
import { isCrashed } from '../../../memory/fold/crash.js';
import type { ExitCode } from '../../command/command.js';
import { word } from '../../command/word.js';

export const crashDetect = word({
  usage: 'crash-detect',
  summary: 'sessions here whose agent died, and what to do; exit 1 if there is one',
  options: {},
  words: 0,
  run({ memory, print }): ExitCode {
    const { process } = memory.surroundings;
    const here = [...(memory.claims.read(memory.workspace)?.sessions ?? [])];
    const reports = here.flatMap((id) => {
      const session = memory.look(id);
      if (session === null || session.log.state.archived !== null) return [];
      if (!isCrashed(session.log.state, process)) return [];
      return [crashReport(session.log.state, memory.workspace.root, process)];
    });
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
