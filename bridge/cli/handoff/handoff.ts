/** `handoff`: unfinished work goes to the next worker as a document, which one worker takes. */
import { createHandoff } from '../../../memory/verbs/createHandoff.js';
import {
  acceptHandoff,
  declineHandoff,
  listHandoffs,
  showHandoff,
  withdrawHandoff,
} from '../../../memory/verbs/handoff.js';
import type { Command } from '../../command/command.js';
import { verbsCommand } from '../../verbs/verbsCommand.js';

export const command: Command = verbsCommand({
  name: 'handoff',
  about: `Hands unfinished work over, with what was learned and what comes next. One
worker accepts it, in any repository; what has changed since is shown first.
It needs no session, and ends none.`,
  verbs: [createHandoff, listHandoffs, showHandoff, acceptHandoff, declineHandoff, withdrawHandoff],
  examples: `  watchkeeper handoff create --title "Login" --learning "tokens live 1 h" \\
    --next "write the tests"
  watchkeeper handoff list
  watchkeeper handoff accept ho_01M8KCBXK5VDSK37E3XKYAD8SB --as follow`,
});
