/** `work`: the sessions of a memory, as people and agents see them who pick one, begin one, or look back. */
import { continueSession } from '../../../memory/verbs/continue.js';
import { exportSession } from '../../../memory/verbs/export.js';
import { keep } from '../../../memory/verbs/keep.js';
import { archive, purge, rebuild, unarchive, verify } from '../../../memory/verbs/keeping.js';
import { end, reopen, start } from '../../../memory/verbs/lifecycle.js';
import { list } from '../../../memory/verbs/list.js';
import { set } from '../../../memory/verbs/set.js';
import { show } from '../../../memory/verbs/show.js';
import { summary } from '../../../memory/verbs/summary.js';
import type { Command } from '../../command/command.js';
import { verbsCommand } from '../../verbs/verbsCommand.js';

export const command: Command = verbsCommand({
  name: 'work',
  about: `Lists, shows, begins and ends sessions. A session is one piece of work in one
directory, of an agent or a person; it survives crashes, and the agent that goes
on with it.`,
  verbs: [
    ...[list, show, summary, start, end, set, continueSession, reopen],
    ...[archive, unarchive, verify, exportSession, rebuild, keep, purge],
  ],
  examples: `  watchkeeper work list --here
  watchkeeper work start --purpose "Fix the login"
  watchkeeper work show --json`,
});
