import { join } from 'node:path';
import type { AgentProgram, ProgramFolders } from './agentProgram.js';
import { fileWithoutHooks, isRunWithoutHooks } from './claudeSettings.js';
import { claudesState, claudesSupervised } from './claudesState.js';
import { processName } from './processName.js';

/** As Claude Code (2.1) names those of its processes that hold the ones of background sessions. */
const SUPERVISORS = ['daemon', 'bg-pty-host', '--bg-pty-host'];
/** `1234.json`, and no other way to write the number. */
const PROCESS_FILE = /^([1-9]\d{0,9})\.json$/;

const folderOf = ({ HOME = '/', CLAUDE_CONFIG_DIR }: ProgramFolders) => CLAUDE_CONFIG_DIR || join(HOME, '.claude');

/** With one of these, Claude Code keeps neither transcripts nor a history. */
const UNRECORDED_MARKS = ['CLAUDE_CODE_CHILD_SESSION', 'CLAUDE_CODE_SKIP_PROMPT_HISTORY'];

/** Claude Code. Without a screen it says so by a variable, and not by its words. */
export const claude: AgentProgram = {
  name: 'claude',
  title: 'Claude Code',
  processes: ['claude'],
  resume: 'claude --resume',
  conversationVariable: 'CLAUDE_CODE_SESSION_ID',
  folderVariable: 'CLAUDE_CONFIG_DIR',
  transcripts: (folders) => ({
    folder: join(folderOf(folders), 'projects'),
    levels: 1,
    isTranscriptOf: (file, conversation) => file === `${conversation}.jsonl`,
  }),
  history: (folders) => ({
    path: join(folderOf(folders), 'history.jsonl'),
    ...{ conversation: 'sessionId', typed: 'display', at: 'timestamp' },
  }),
  // Its files are named by ids alone, as those of others may be.
  isTranscript: () => false,
  /** One that inherits the mark of an agent's shell takes itself for a part of that agent's session. */
  isUnrecorded: (words, variable) =>
    words.includes('--no-session-persistence') ||
    UNRECORDED_MARKS.some((name) => !['', '0', 'false'].includes(variable(name) ?? '')),
  isHeadless: () => false,
  reportsClosedWindow: true,
  isSwitchedOff: (folders, directory, words) =>
    fileWithoutHooks(folderOf(folders), directory) !== null || isRunWithoutHooks(words, directory),
  publishes: (folders) => ({
    folder: join(folderOf(folders), 'sessions'),
    fileOf: (pid) => `${pid}.json`,
    pidOf: (file) => Number(PROCESS_FILE.exec(file)?.[1] ?? 0) || null,
    stateIn: claudesState,
    supervisor: join(folderOf(folders), 'daemon', 'roster.json'),
    supervisedIn: claudesSupervised,
  }),
  sharesProcess: false,
  callMeta: { conversation: null, call: 'claudecode/toolUseId' },
  isServer: () => false,
  isSupervisor(words) {
    const first = words[words.findIndex((word) => processName(word) === 'claude') + 1];
    return first !== undefined && SUPERVISORS.includes(first);
  },
};
