import { lookAt, statusLines } from '../../../memory/show/status.js';
import type { ExitCode } from '../../command/command.js';
import { word } from '../../command/word.js';

export const show = word({
  usage: 'show [ID]',
  summary: 'everything that is known of a session',
  options: {},
  words: 1,
  async run({ memory, values, words: [named], print }): Promise<ExitCode> {
    const session = memory.which(named ?? values.session ?? null);
    const shown = await lookAt(memory, session);
    const { lines, applied, refused, unreadable } = session.log.counts;
    print(statusLines(shown).join('\n'), {
      ...shown.state,
      ...shown.computed,
      log: { lines, applied, refused, unreadable },
    });
    return 0;
  },
});
