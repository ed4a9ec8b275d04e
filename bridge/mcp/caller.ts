/** The caller of a tool of the server: the agent that has started it. */
import { hostname } from 'node:os';
import { isAgent } from '../../memory/sessions/agentProcess.js';
import { SURROUNDING_VARIABLES, type Surroundings, type ToolCall } from '../../memory/sessions/surroundings.js';
import { AGENT_PROGRAMS } from '../../src/agents/programs.js';
import { homeOfUser } from '../../src/host/homeOfUser.js';
import { isSameProcess, type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import { ownBuild } from '../../src/host/program.js';
import type { Redact } from '../../src/log/redact.js';
import { agentAbove } from '../command/agentAbove.js';
import { startDetached } from '../command/detached.js';
import type { ToolCaller } from './callTool.js';
import { isOutdated } from './outdated.js';
import type { CallMeta } from './server.js';

/** The process of the server. */
export interface ServerProcess {
  /** Of its program, when it started. */
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where it was started. */
  readonly directory: string;
  /** Its parent. Null if that has left it. */
  readonly parent: number | null;
}

/** @param meta of the call @param redact for the server's environment: to make it takes longer than to use it */
export function callerOf(
  { version, environment, directory, parent }: ServerProcess,
  meta: CallMeta,
  redact: Redact,
): ToolCaller {
  const host = environment.WATCHKEEPER_HOST ?? hostname();
  const known: ServerProcess['environment'] = { ...environment, HOME: environment.HOME || homeOfUser() };
  const variables = SURROUNDING_VARIABLES.map((name) => [name, known[name]] as const);
  const agent = parent === null ? null : agentOf(host, parent, known);
  const surroundings: Surroundings = {
    directory,
    process: readProcessIdentity(host),
    variables: Object.fromEntries(variables.filter(([, value]) => value !== undefined)),
    toolCall: toolCallOf(meta, agent),
  };
  return {
    surroundings,
    folder: null,
    redact,
    origin: 'agent',
    startDetached: (args) => startDetached(args, environment),
    isOutdated: () => isOutdated({ version, folder: ownBuild() }, surroundings.variables),
  };
}

/** The agent that the last call found above the parent. */
let last: { readonly parent: number; readonly agent: ProcessIdentity } | null = null;

/** A parent stays until it ends, and so does what it is: only whether the agent still lives is looked at again. */
function agentOf(host: string, parent: number, folders: ServerProcess['environment']): ProcessIdentity | null {
  if (last?.parent === parent && isSameProcess(readProcessIdentity(host, last.agent.pid), last.agent))
    return last.agent;
  const agent = agentAbove(host, parent, folders);
  // A program that is no agent yet may become one, or publish itself later.
  last = agent !== null && isAgent(agent, folders, agent) ? { parent, agent } : null;
  return agent;
}

/** Each program has members of its own; at most one of them is in a call. */
function toolCallOf(meta: CallMeta, agent: ProcessIdentity | null): ToolCall {
  let thread: ToolCall['thread'] = null;
  let id: string | null = null;
  for (const { name, callMeta } of AGENT_PROGRAMS) {
    const conversation = callMeta.conversation === null ? null : textOf(meta[callMeta.conversation]);
    if (conversation !== null) thread ??= { provider: name, conversation };
    id ??= textOf(meta[callMeta.call]);
  }
  return { agent, thread, id };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
