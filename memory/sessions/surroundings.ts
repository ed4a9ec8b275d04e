/** What the entry programs know about who calls: the variables and the directory by which a session is found. */
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
  'XDG_STATE_HOME',
  'HOME',
  'PATH',
  'CLAUDECODE',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_PID',
  'CLAUDE_CODE_ENTRYPOINT',
  'CODEX_THREAD_ID',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
] as const;
export type SurroundingVariable = (typeof SURROUNDING_VARIABLES)[number];

const OF_AGENTS: readonly SurroundingVariable[] = ['CLAUDECODE', 'CODEX_THREAD_ID', 'WATCHKEEPER_RUN'];

/** @returns `agent` if an agent's shell runs the command, else `person` */
export function originOf({ variables }: Surroundings): Origin {
  return OF_AGENTS.some((name) => (variables[name] ?? '') !== '') ? 'agent' : 'person';
}

/** @returns the conversation in whose agent's shell a process with these variables was started; null if in none */
export function conversationIn({
  CLAUDE_CODE_SESSION_ID,
  CODEX_THREAD_ID,
}: Readonly<{
  CLAUDE_CODE_SESSION_ID?: string | undefined;
  CODEX_THREAD_ID?: string | undefined;
}>): BoundConversation | null {
  if (CLAUDE_CODE_SESSION_ID) return { provider: 'claude', conversation: CLAUDE_CODE_SESSION_ID };
  return CODEX_THREAD_ID ? { provider: 'codex', conversation: CODEX_THREAD_ID } : null;
}
