import { lookAt, statusLines } from '../../../memory/show/status.js';
import { treeLines, treeOf } from '../../../memory/show/tree.js';
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
    const tree = treeOf(memory.sessions, session.log.state);
    print([...statusLines(shown), ...treeLines(tree)].join('\n'), {
      ...shown.state,
      ...shown.computed,
      tree,
      log: { lines, applied, refused, unreadable },
    });
    return 0;
  },
});
