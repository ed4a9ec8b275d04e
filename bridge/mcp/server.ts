/** The server of the tools, as the protocol wants it. What a tool needs is handed in, and may be loaded when a tool is called. */
import { type CallToolResult, Server } from '@modelcontextprotocol/server';
import type { ToolAnswer } from './callTool.js';
import type { ListedTool } from './listing.js';

/** For the model. At most 600 characters: some programs show them above every tool. */
export const INSTRUCTIONS =
  'Memory of this work: it survives crashes, /clear and other agents. Begin with get_session_status. For work in several phases: ' +
  'create_session, then transition_phase when a phase starts, completes or fails, at that moment; after a break resume_session, ' +
  'at the end archive_session. Keep what the next agent must know with add_note. Without `session_id` the session of your ' +
  'conversation or directory is meant. A refusal has a `code` and says what is possible; nothing of a refused call is stored.';

/** Of a call, as the program of the agent adds it. */
export type CallMeta = Readonly<Record<string, unknown>>;

export interface Offered {
  readonly version: string;
  listTools(): Promise<readonly ListedTool[]>;
  callTool(name: string, args: unknown, meta: CallMeta): Promise<ToolAnswer>;
}

/** @returns not connected to a client yet */
export function createServer({ version, listTools, callTool }: Offered): Server {
  const server = new Server(
    { name: 'watchkeeper', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', async () => ({ tools: (await listTools()).map((tool) => ({ ...tool })) }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { name, arguments: args = {}, _meta: meta = {} } = params;
    return server.projectCallToolResult(resultOf(await callTool(name, args, meta)), undefined);
  });
  return server;
}

function resultOf({ value, isError }: ToolAnswer): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(value) }],
    structuredContent: value,
    ...(isError && { isError }),
  };
}
