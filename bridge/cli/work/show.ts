import { shownLines, showSession } from '../../../memory/show/shown.js';
import { judgeIn } from '../../../monitoring/terminals/judge.js';
import type { ExitCode } from '../../command/command.js';
import { word } from '../../command/word.js';

export const show = word({
  usage: 'show [ID]',
  summary: 'everything that is known of a session',
  options: {},
  words: 1,
  async run({ memory, values, words: [named], print }): Promise<ExitCode> {
    const session = memory.which(named ?? values.session ?? null);
    const shown = await showSession(memory, session, judgeIn(memory));
    print(shownLines(shown), shown.value);
    return 0;
  },
});
