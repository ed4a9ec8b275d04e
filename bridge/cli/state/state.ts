/** `state`: the files in the folder that mirrors the sessions of a directory, for callers without tools. */
import { readState, writeState } from '../../../memory/verbs/stateFiles.js';
import type { Command } from '../../command/command.js';
import { verbsCommand } from '../../verbs/verbsCommand.js';

export const command: Command = verbsCommand({
  name: 'state',
  about: `Reads and writes files in the state_dir of this directory, where no tool is at
hand: plans, and texts of sessions. The text of the active session is generated,
and is changed with \`watchkeeper track\` and \`watchkeeper work\`.`,
  verbs: [readState, writeState],
  examples: `  watchkeeper state read
  watchkeeper state read plans/plan.md
  watchkeeper state write plans/plan.md < plan.md`,
});
