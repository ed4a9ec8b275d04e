/** The caller of a tool of the server: the agent that has started it. */
import { hostname } from 'node:os';
import { SURROUNDING_VARIABLES, type Surroundings, type ToolCall } from '../../memory/sessions/surroundings.js';
import { homeOfUser } from '../../src/host/homeOfUser.js';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import { ownBuild } from '../../src/host/program.js';
import { createRedactor, ownSecretsIn } from '../../src/log/redact.js';
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

/** @param meta of the call */
export function callerOf({ version, environment, directory, parent }: ServerProcess, meta: CallMeta): ToolCaller {
  const host = environment.WATCHKEEPER_HOST ?? hostname();
  const known: ServerProcess['environment'] = { ...environment, HOME: environment.HOME || homeOfUser() };
  const variables = SURROUNDING_VARIABLES.map((name) => [name, known[name]] as const);
  const agent = parent === null ? null : agentAbove(host, parent, known);
  const surroundings: Surroundings = {
    directory,
    process: readProcessIdentity(host),
    variables: Object.fromEntries(variables.filter(([, value]) => value !== undefined)),
    toolCall: toolCallOf(meta, agent),
  };
  return {
    surroundings,
    folder: null,
    redact: createRedactor(ownSecretsIn(environment)),
    origin: 'agent',
    startDetached: (args) => startDetached(args, environment),
    isOutdated: () => isOutdated({ version, folder: ownBuild() }, surroundings.variables),
  };
}

/** Claude Code names the use of the tool, Codex its thread and the call. */
function toolCallOf(meta: CallMeta, agent: ProcessIdentity | null): ToolCall {
  const thread = textOf(meta.threadId);
  return {
    agent,
    thread: thread === null ? null : { provider: 'codex', conversation: thread },
    id: textOf(meta['claudecode/toolUseId']) ?? textOf(meta.callId),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
