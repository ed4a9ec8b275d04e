import { join } from 'node:path';
import type { AgentProgram } from './agentProgram.js';

const CHILD_MARK = 'CLAUDE_CODE_CHILD_SESSION';

/** Claude Code. Without a screen it says so by a variable, and not by its words. */
export const claude: AgentProgram = {
  name: 'claude',
  title: 'Claude Code',
  processes: ['claude'],
  resume: 'claude --resume',
  conversationVariable: 'CLAUDE_CODE_SESSION_ID',
  folderVariable: 'CLAUDE_CONFIG_DIR',
  transcripts: ({ HOME = '/', CLAUDE_CONFIG_DIR }) => ({
    folder: join(CLAUDE_CONFIG_DIR || join(HOME, '.claude'), 'projects'),
    levels: 1,
    isTranscriptOf: (file, conversation) => file === `${conversation}.jsonl`,
  }),
  // Its files are named by ids alone, as those of others may be.
  isTranscript: () => false,
  /** One that inherits the mark of an agent's shell takes itself for a part of that agent's session. */
  isUnrecorded: (words, variable) =>
    words.includes('--no-session-persistence') || !['', '0', 'false'].includes(variable(CHILD_MARK) ?? ''),
  isHeadless: () => false,
};
