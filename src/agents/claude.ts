import { join } from 'node:path';
import type { AgentProgram } from './agentProgram.js';

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
  isHeadless: () => false,
};
