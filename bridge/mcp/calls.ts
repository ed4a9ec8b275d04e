/** What the server needs only for a call: a program of its own, which is loaded at the first one. */
import { KnownLogs } from '../../memory/sessions/knownLogs.js';
import { callerOf, type ServerProcess } from './caller.js';
import { callTool, type ToolAnswer } from './callTool.js';
import type { CallMeta } from './server.js';

/** Each call reads on in them first. */
const known = new KnownLogs();

/** @param meta of the call @returns as {@link callTool} */
export function callFromServer(
  name: string,
  args: unknown,
  meta: CallMeta,
  server: ServerProcess,
): Promise<ToolAnswer> {
  return callTool(name, args, { ...callerOf(server, meta), known });
}
