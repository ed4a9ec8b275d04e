import { lookAt, statusLines } from '../../../memory/show/status.js';
import type { ExitCode } from '../../command/command.js';
import { word } from '../../command/word.js';

export const status = word({
  usage: 'status',
  summary: 'show the task, the steps and the files in progress',
  options: {},
  words: 0,
  async run({ memory, values, print }): Promise<ExitCode> {
    const session = memory.which(values.session ?? null);
    const shown = await lookAt(memory, session);
    print(statusLines(shown).join('\n'), { ...shown.state, ...shown.computed, log: session.log.counts });
    return 0;
  },
});
