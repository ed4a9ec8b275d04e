import { join } from 'node:path';
import type { AgentProgram, ProgramFolders } from './agentProgram.js';
import { processName } from './processName.js';

/** As Codex (0.169) names them in its command line. */
const WITHOUT_SCREEN = ['exec', 'e', 'review'];
/** One process works for all windows. */
const SERVER = 'app-server';
/** The options before the command that a value follows. */
const TAKES_VALUE =
  /^(?:-[cimpsCa]|--(?:config|enable|disable|remote|remote-auth-token-env|image|model|local-provider|profile|sandbox|cd|add-dir|ask-for-approval))$/;

const folderOf = ({ HOME = '/', CODEX_HOME }: ProgramFolders) => CODEX_HOME || join(HOME, '.codex');

/** Codex. Its sessions lie in `sessions/YYYY/MM/DD/`. */
export const codex: AgentProgram = {
  name: 'codex',
  title: 'Codex',
  processes: ['codex'],
  resume: 'codex resume',
  conversationVariable: 'CODEX_THREAD_ID',
  folderVariable: 'CODEX_HOME',
  history: (folders) => ({
    path: join(folderOf(folders), 'history.jsonl'),
    ...{ conversation: 'session_id', typed: 'text' },
  }),
  transcripts: (folders) => {
    const home = folderOf(folders);
    return {
      folder: join(home, 'sessions'),
      levels: 3,
      archives: [join(home, 'archived_sessions')],
      isTranscriptOf: (file, conversation) => file.endsWith(`-${conversation}.jsonl`),
    };
  },
  isTranscript: (file) => file.startsWith('rollout-'),
  isUnrecorded: (words) => words.includes('--ephemeral'),
  /** The first word that is no option, and no value of one, is the command. */
  isHeadless(words) {
    const own = words.slice(words.findIndex((word) => processName(word) === 'codex') + 1);
    const command = own.find((word, index) => !word.startsWith('-') && !TAKES_VALUE.test(own[index - 1] ?? ''));
    return command !== undefined && WITHOUT_SCREEN.includes(command);
  },
  // Codex 0.169: it reports Ctrl+C and /quit, and dies of SIGHUP and SIGTERM without a word.
  reportsClosedWindow: false,
  // It publishes nothing, so nothing is recorded without its hooks.
  isSwitchedOff: () => false,
  publishes: () => null,
  sharesProcess: true,
  callMeta: { conversation: 'threadId', call: 'callId' },
  isServer: (words) => words.includes(SERVER),
  isSupervisor: () => false,
};
