/** The entry programs' knowledge of their caller: the variables and the directory that lead to a session. */
import { FOLDER_VARIABLES } from '../../src/agents/agentProgram.js';
import { AGENT_PROGRAMS } from '../../src/agents/programs.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { DEED_VARIABLES } from '../git/deedVariables.js';
import type { Origin } from '../words.js';
import type { BoundConversation } from './bindings.js';

export interface Surroundings {
  readonly directory: string;
  readonly process: ProcessIdentity;
  /** If the agent itself calls, through a tool: there is no shell of it. */
  readonly toolCall?: ToolCall | undefined;
  /** Only the variables that are asked for below. */
  readonly variables: Readonly<Partial<Record<SurroundingVariable, string>>>;
}

/** A call of a tool, which the agent's program makes of a process that it has started. */
export interface ToolCall {
  /** Null if it is gone. */
  readonly agent: ProcessIdentity | null;
  /** The conversation that the call names, as Codex does, whose windows may share a process. Null if it names none. */
  readonly thread: BoundConversation | null;
  /** The program's own id of the call; the transcript names the sub-agent by it. Null if it gives none. */
  readonly id: string | null;
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
  ...DEED_VARIABLES,
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
