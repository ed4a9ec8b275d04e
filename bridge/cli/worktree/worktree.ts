/** `worktree`: the directories in which agents work next to each other on one repository. */
import { end } from '../../../memory/verbs/endWorktree.js';
import { start } from '../../../memory/verbs/startWorktree.js';
import { list, path } from '../../../memory/verbs/worktrees.js';
import type { Command } from '../../command/command.js';
import { verbsCommand } from '../../verbs/verbsCommand.js';
import { bridgeWork } from './bridgeWork.js';

export const command: Command = verbsCommand({
  name: 'worktree',
  about: `Makes git worktrees of the repository that this directory is in, shows what is
in them (what is uncommitted, whether it is merged, which agents and sessions
work there), and ends them. No session is made or ended.`,
  verbs: [start, list, path, end],
  services: (context) => ({ bridgeWork: () => bridgeWork(context) }),
  examples: `  watchkeeper worktree start login --type feature --yes
  watchkeeper worktree list
  watchkeeper worktree list --size --json
  watchkeeper worktree end feature/login --merge
  watchkeeper worktree end --merged --yes
  cd "$(watchkeeper worktree path feature/login)"`,
});
