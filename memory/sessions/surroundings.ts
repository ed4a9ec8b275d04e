/** The entry programs' knowledge of their caller: the variables and the directory that lead to a session. */
import { FOLDER_VARIABLES } from '../../src/agents/agentProgram.js';
import { AGENT_PROGRAMS } from '../../src/agents/programs.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Origin } from '../words.js';
import type { BoundConversation } from './bindings.js';

export interface Surroundings {
  readonly directory: string;
  readonly process: ProcessIdentity;
  /** Only the variables that are asked for below. */
  readonly variables: Readonly<Partial<Record<SurroundingVariable, string>>>;
}

export const SURROUNDING_VARIABLES = [
  'WATCHKEEPER_HOME',
  'WATCHKEEPER_MEMORY',
  'WATCHKEEPER_SESSION',
  'WATCHKEEPER_RUN',
  'MAESTRO_AUTO_ARCHIVE',
  'MAESTRO_STATE_DIR',
  'XDG_STATE_HOME',
  'TMPDIR',
  'PATH',
  'CLAUDECODE',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_PID',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_SIMPLE',
  'CLAUDE_CODE_SAFE_MODE',
  'CODEX_THREAD_ID',
  ...FOLDER_VARIABLES,
] as const;
export type SurroundingVariable = (typeof SURROUNDING_VARIABLES)[number];

const OF_AGENTS: readonly SurroundingVariable[] = [
  'CLAUDECODE',
  'WATCHKEEPER_RUN',
  ...AGENT_PROGRAMS.map(({ conversationVariable }) => conversationVariable),
];

/** @returns `agent` if an agent's shell runs the command, else `person` */
export function originOf({ variables }: Surroundings): Origin {
  return OF_AGENTS.some((name) => (variables[name] ?? '') !== '') ? 'agent' : 'person';
}

/**
 * @param variable reads a variable of a process
 * @returns the conversation of the agent whose shell started the process; null if none did
 */
export function conversationIn(
  variable: (name: 'CLAUDE_CODE_SESSION_ID' | 'CODEX_THREAD_ID') => string | null | undefined,
): BoundConversation | null {
  for (const { name, conversationVariable } of AGENT_PROGRAMS) {
    const conversation = variable(conversationVariable);
    if (conversation) return { provider: name, conversation };
  }
  return null;
}
