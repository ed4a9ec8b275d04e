/** `work`: the sessions of a memory, as those see them who pick one, begin one, or look back. */
import type { Command } from '../../command/command.js';
import { wordsCommand } from '../../command/word.js';
import { goOn } from './continue.js';
import { exportWord } from './export.js';
import { keep } from './keep.js';
import { archive, purge, rebuild, unarchive, verify } from './keeping.js';
import { end, reopen, start } from './lifecycle.js';
import { list } from './list.js';
import { set } from './set.js';
import { show } from './show.js';

export const command: Command = wordsCommand({
  name: 'work',
  about: `Lists, shows, begins and ends sessions. A session is one piece of work in one
directory, of an agent or a person; it survives crashes, and the agent that goes
on with it.`,
  words: {
    list,
    show,
    start,
    end,
    set,
    continue: goOn,
    reopen,
    archive,
    unarchive,
    verify,
    export: exportWord,
    rebuild,
    keep,
    purge,
  },
  examples: `  watchkeeper work list --here
  watchkeeper work start --purpose "Fix the login"
  watchkeeper work show --json`,
});
