/** Finds the agent's process: the one whose shell runs a command. */
import type { ProgramFolders } from '../../src/agents/agentProgram.js';
import { isSupervisor, programNamed, programOfProcess } from '../../src/agents/programs.js';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import { valueIn } from '../../src/host/marks.js';
import { startersOf } from '../../src/host/processes.js';
import { readArguments, readEnvironment } from '../../src/host/procfs.js';
import type { BoundConversation } from './bindings.js';
import { publishedAgent } from './published.js';
import { conversationIn, type Surroundings } from './surroundings.js';

const MOST_ANCESTORS = 10;

/** @returns the processes above the caller, the nearest first */
function ancestorsOf({ process }: Surroundings): ProcessIdentity[] {
  return startersOf(process.pid, MOST_ANCESTORS).map((pid) => readProcessIdentity(process.host, pid));
}

/**
 * @param isBound whether a session has the process
 * @returns the nearest ancestor bound to a session; else the one that the agent names in `CLAUDE_PID`; else the nearest whose program
 *   is known as an agent's; null if none is
 */
export function agentProcessOf(
  surroundings: Surroundings,
  isBound: (process: ProcessIdentity) => boolean,
): ProcessIdentity | null {
  const ancestors = ancestorsOf(surroundings).filter(({ pid }) => !isSupervisor(readArguments(pid)));
  const named = Number(surroundings.variables.CLAUDE_PID);
  return (
    ancestors.find(isBound) ??
    ancestors.find(({ pid }) => pid === named) ??
    ancestors.find((process) => isAgent(process, surroundings.variables, surroundings.process)) ??
    null
  );
}

/**
 * A program may change the words of its process, so what it publishes counts first.
 * @param here the identity of a process of this host
 * @returns whether it is an agent's
 */
export function isAgent(process: ProcessIdentity, folders: ProgramFolders, here: ProcessIdentity): boolean {
  return publishedAgent(folders, process, here) !== null || programOfProcess(readArguments(process.pid)) !== null;
}

/**
 * @param agent the program. Null if it is unknown
 * @returns whether a person may see what the program's hook has it show: `claude -p` (2.1) and `codex exec` have no screen. Where the
 *   command line cannot be read, Codex counts as one that has
 */
export function hasScreen({ variables }: Surroundings, agent: ProcessIdentity | null): boolean {
  if (variables.CLAUDE_CODE_ENTRYPOINT === 'sdk-cli') return false;
  const words = agent === null ? [] : readArguments(agent.pid);
  return programNamed(programOfProcess(words))?.isHeadless(words) !== true;
}

/**
 * @param agent the program. Null if it is unknown
 * @returns whether it may keep no transcript
 */
export function isUnrecorded(agent: ProcessIdentity | null): boolean {
  if (agent === null) return false;
  const words = readArguments(agent.pid);
  const environment = readEnvironment(agent.pid);
  const variable = (name: string) => (typeof environment === 'string' ? null : (valueIn(environment, name) ?? null));
  return programNamed(programOfProcess(words))?.isUnrecorded(words, variable) ?? false;
}

/** @returns the conversation of the agent whose shell started the process; null if none did, or its environment cannot be read */
export function conversationOf(pid: number): BoundConversation | null {
  const environment = readEnvironment(pid);
  if (typeof environment === 'string') return null;
  return conversationIn((name) => valueIn(environment, name));
}
