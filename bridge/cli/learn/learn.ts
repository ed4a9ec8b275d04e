/** `learn`: the failures that came back in sessions, and the lessons that people have added for the next agents. */
import {
  addAction,
  addLearning,
  drawLearnings,
  dropLearning,
  finishAction,
  listLearnings,
} from '../../../memory/verbs/learn.js';
import type { Command } from '../../command/command.js';
import { verbsCommand } from '../../verbs/verbsCommand.js';

export const command: Command = verbsCommand({
  name: 'learn',
  about: `Shows which calls failed again and again, and what worked next, and keeps what
somebody made of it. Agents that begin in the repository get what was added,
never what was only observed. No rule and no skill is changed.`,
  verbs: [listLearnings, drawLearnings, addLearning, addAction, finishAction, dropLearning],
  withoutWord: listLearnings,
  examples: `  watchkeeper learn draw
  watchkeeper learn add "npm test needs Redis" --action "say so in the README"
  watchkeeper learn --out docs/learnings.md`,
});
