/** What the server needs only for a call: a program of its own, which is loaded at the first one. */
import { callerOf, type ServerProcess } from './caller.js';
import { callTool, type ToolAnswer } from './callTool.js';
import type { CallMeta } from './server.js';

/** @param meta of the call @returns as {@link callTool} */
export function callFromServer(
  name: string,
  args: unknown,
  meta: CallMeta,
  server: ServerProcess,
): Promise<ToolAnswer> {
  return callTool(name, args, callerOf(server, meta));
}
