/** `worktree`: the directories in which agents work next to each other on one repository. */
import { list, path } from '../../../memory/verbs/worktrees.js';
import type { Command } from '../../command/command.js';
import { verbsCommand } from '../../verbs/verbsCommand.js';

export const command: Command = verbsCommand({
  name: 'worktree',
  about: `Shows the git worktrees of the repository that this directory is in: what is
uncommitted, whether it is merged, and which agents and sessions are in it.
Nothing in the repository is changed.`,
  verbs: [list, path],
  examples: `  watchkeeper worktree list
  watchkeeper worktree list --size --json
  cd "$(watchkeeper worktree path feature/login)"`,
});
