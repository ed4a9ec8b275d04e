/** The server of the tools, as the protocol wants it. What a tool needs is handed in, and may be loaded when a tool is called. */
import { type CallToolResult, Server } from '@modelcontextprotocol/server';
import type { ToolAnswer } from './callTool.js';
import type { ListedTool } from './listing.js';
import { CAPABILITIES, INSTRUCTIONS, NAME } from './opening.js';

/** Of a call, as the program of the agent adds it. */
export type CallMeta = Readonly<Record<string, unknown>>;

export interface Offered {
  readonly version: string;
  readonly tools: readonly ListedTool[];
  callTool(name: string, args: unknown, meta: CallMeta): Promise<ToolAnswer>;
}

/** @returns not connected to a client yet */
export function createServer({ version, tools, callTool }: Offered): Server {
  const server = new Server({ name: NAME, version }, { capabilities: CAPABILITIES, instructions: INSTRUCTIONS });
  server.setRequestHandler('tools/list', async () => ({ tools: tools.map((tool) => ({ ...tool })) }));
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
