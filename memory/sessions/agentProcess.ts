/** Which process is the agent in whose shell a command runs. */
import { basename } from 'node:path';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import { valueIn } from '../../src/host/marks.js';
import { systemProcessTable } from '../../src/host/processes.js';
import { readArguments, readEnvironment } from '../../src/host/procfs.js';
import type { BoundConversation } from './bindings.js';
import { conversationIn, type Surroundings } from './surroundings.js';

const MOST_ANCESTORS = 10;
/** Programs of agents, as they are called. */
const AGENT_PROGRAMS = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'cursor-agent',
  'aider',
  'goose',
  'amp',
  'qwen',
  'copilot',
];
/** As Codex (0.169) names them in its command line. */
const SERVER = 'app-server';
const WITHOUT_SCREEN = ['exec', 'e', 'review'];
/** Of its options before the command, those that a value follows. */
const TAKES_VALUE =
  /^(?:-[cimpsCa]|--(?:config|enable|disable|remote|remote-auth-token-env|image|model|local-provider|profile|sandbox|cd|add-dir|ask-for-approval))$/;
const SCRIPT_END = /\.(?:js|mjs|cjs|py)$/;
/** Of programs that are downloaded as they were released: `codex-x86_64-unknown-linux-musl`. */
const PLATFORM_END = /-(?:x86_64|aarch64)-[\w-]+$/;
/** What runs the scripts of agents; a shell, if somebody has wrapped one. */
const INTERPRETER = /^(?:node|nodejs|bun|deno|python[\d.]*|sh|bash|dash|zsh)$/;

/** @returns the processes above the caller, the nearest first, at most ten */
function ancestorsOf({ process }: Surroundings): ProcessIdentity[] {
  const table = systemProcessTable();
  const ancestors: ProcessIdentity[] = [];
  for (let pid = process.pid; ancestors.length < MOST_ANCESTORS; ) {
    const parent = table.find(pid)?.parent ?? 0;
    if (parent <= 1) break;
    ancestors.push(readProcessIdentity(process.host, parent));
    pid = parent;
  }
  return ancestors;
}

/**
 * @param isBound whether a session has the process
 * @returns the nearest ancestor that a session has; else that which the agent names in `CLAUDE_PID`; else the nearest whose program
 *   is known as an agent's; null if none is
 */
export function agentProcessOf(
  surroundings: Surroundings,
  isBound: (process: ProcessIdentity) => boolean,
): ProcessIdentity | null {
  const ancestors = ancestorsOf(surroundings);
  const named = Number(surroundings.variables.CLAUDE_PID);
  return (
    ancestors.find(isBound) ??
    ancestors.find(({ pid }) => pid === named) ??
    ancestors.find(({ pid }) => agentProgramOf(readArguments(pid)) !== null) ??
    null
  );
}

/**
 * Codex works for all its windows in one server. Such a process belongs to no conversation, and the sessions of several end with it.
 */
export function isServer(words: readonly string[]): boolean {
  return words.includes(SERVER);
}

/**
 * Only names count, not the folders that they are in, and of other programs no argument: `make codex` is no agent.
 * @param words of a process: its program, and what it was called with
 * @returns which agent's program it is; null if none that is known
 */
export function agentProgramOf(words: readonly string[]): string | null {
  const [program = '', ...args] = words;
  // Gemini starts itself again as `node --max-old-space-size=… …/gemini`. A short option may be followed by code instead.
  const script = INTERPRETER.test(basename(program)) ? args.find((word) => !word.startsWith('--')) : undefined;
  const names = [program, script ?? ''].map((word) => basename(word).replace(SCRIPT_END, '').replace(PLATFORM_END, ''));
  return names.find((name) => AGENT_PROGRAMS.includes(name)) ?? null;
}

/**
 * @param agent the program; null: nobody knows it
 * @returns whether a person may see what the program's hook has it show: `claude -p` (2.1) and `codex exec` have no screen. Where the
 *   command line cannot be read, Codex counts as one that has
 */
export function hasScreen({ variables }: Surroundings, agent: ProcessIdentity | null): boolean {
  if (variables.CLAUDE_CODE_ENTRYPOINT === 'sdk-cli') return false;
  const words = agent === null ? [] : readArguments(agent.pid);
  return agentProgramOf(words) !== 'codex' || !isHeadless(words);
}

/**
 * @param words of a process of Codex
 * @returns whether the first of them that is no option, and no value of one, is a command without a screen
 */
export function isHeadless(words: readonly string[]): boolean {
  const own = words.slice(words.findIndex((word) => agentProgramOf([word]) === 'codex') + 1);
  const command = own.find((word, index) => !word.startsWith('-') && !TAKES_VALUE.test(own[index - 1] ?? ''));
  return command !== undefined && WITHOUT_SCREEN.includes(command);
}

/** @returns the conversation in whose agent's shell the process was started; null if in none, or its environment cannot be read */
export function conversationOf(pid: number): BoundConversation | null {
  const environment = readEnvironment(pid);
  if (typeof environment === 'string') return null;
  const CLAUDE_CODE_SESSION_ID = valueIn(environment, 'CLAUDE_CODE_SESSION_ID') ?? undefined;
  const CODEX_THREAD_ID = valueIn(environment, 'CODEX_THREAD_ID') ?? undefined;
  return conversationIn({ CLAUDE_CODE_SESSION_ID, CODEX_THREAD_ID });
}
