import { showSession } from '../../../memory/show/shown.js';
import { statusLines } from '../../../memory/show/status.js';
import { treeLines } from '../../../memory/show/tree.js';
import type { ExitCode } from '../../command/command.js';
import { word } from '../../command/word.js';

export const show = word({
  usage: 'show [ID]',
  summary: 'everything that is known of a session',
  options: {},
  words: 1,
  async run({ memory, values, words: [named], print }): Promise<ExitCode> {
    const session = memory.which(named ?? values.session ?? null);
    const { status, tree, value } = await showSession(memory, session);
    print([...statusLines(status), ...treeLines(tree)].join('\n'), value);
    return 0;
  },
});
