/** Whether the MCP server of the plugin is there in an agent, and starts: it is started by the agent's own line, and asked for its tools. */
import * as z from 'zod';
import { SECOND } from '../../src/time.js';
import { systemProgram } from '../agents/program/findProgram.js';
import { type Asker, describeEnd, parsedJson, type ServerState } from './agent.js';
import type { Trouble } from './installation.js';

/** Its name in the plugin. */
export const SERVER = 'watchkeeper';
/** Both programs wait less for a server. */
const LIMIT_MS = 10 * SECOND;
const REMEDY = 'run `watchkeeper plugin install`, and start the agent again';
const PROTOCOL = '2025-06-18';

export interface ServerLook {
  readonly state: ServerState;
  readonly trouble: readonly Trouble[];
}

export const NO_SERVER: ServerLook = { state: 'none', trouble: [] };
export const OFF: ServerLook = { state: 'off', trouble: [] };
export const MISSING: ServerLook = {
  state: 'none',
  trouble: [{ found: 'its plugin has no MCP server, so agents have no tools for plans', remedy: REMEDY }],
};

/** The line that starts it, as the agent has it. */
export const serverLine = z.object({
  command: z.string(),
  args: z.array(z.string()),
  env_vars: z.array(z.string()).nullish(),
});
export type ServerLine = z.infer<typeof serverLine>;

const answer = z.object({ id: z.literal(2), result: z.object({ tools: z.array(z.unknown()).min(1) }) });

/**
 * @param only the variables that the agent hands on to a server; null if it hands on all
 * @returns `on` if the server lists its tools
 */
export async function lookAtServer(
  { command, args }: ServerLine,
  { run, surroundings }: Asker,
  only: readonly string[] | null,
): Promise<ServerLook> {
  const { directory, variables } = surroundings;
  const handedOn = Object.entries(variables).filter(([name]) => only?.includes(name) ?? true);
  const bare = ['-i', ...handedOn.map(([name, value]) => `${name}=${value}`), command, ...args];
  const end = await run({
    ...(only === null ? { program: command, args } : { program: systemProgram('env') ?? 'env', args: bare }),
    ...{ directory, limitMs: LIMIT_MS, question: QUESTION },
  });
  const lines = end.kind === 'exited' ? end.out.split('\n') : [];
  if (lines.some((line) => answer.safeParse(parsedJson(line)).success)) return { state: 'on', trouble: [] };
  const found = `its MCP server does not start, so agents have no tools for plans: ${describeEnd(end)}`;
  return { state: 'fails', trouble: [{ found, remedy: REMEDY }] };
}

const QUESTION = {
  lines: [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'watchkeeper', version: '0' } },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
  ].map((message) => JSON.stringify({ jsonrpc: '2.0', ...message })),
  isAnswer: (line: string) => z.object({ id: z.literal(2) }).safeParse(parsedJson(line)).success,
};
