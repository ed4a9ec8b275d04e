/** What the server needs only for a call: a program of its own, which is loaded at the first one. */
import { KnownLogs } from '../../memory/sessions/knownLogs.js';
import { createRedactor, ownSecretsIn, type Redact } from '../../src/log/redact.js';
import { callerOf, type ServerProcess } from './caller.js';
import { callTool, type ToolAnswer } from './callTool.js';
import type { CallMeta } from './server.js';

/** Each call reads on in them first. */
const known = new KnownLogs();
let redact: Redact | null = null;

/** @param meta of the call @returns as {@link callTool} */
export function callFromServer(
  name: string,
  args: unknown,
  meta: CallMeta,
  server: ServerProcess,
): Promise<ToolAnswer> {
  redact ??= createRedactor(ownSecretsIn(server.environment));
  return callTool(name, args, { ...callerOf(server, meta, redact), known });
}
