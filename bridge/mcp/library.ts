/** What the server needs of the library: a program of its own, which is loaded when a client asks for more than the list of tools. */
import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { ANSWERED } from './opening.js';
import { createServer, type Offered } from './server.js';
import { LONGEST_MESSAGE_BYTES } from './wire.js';

type Sent = Parameters<StdioServerTransport['send']>[0];

/** Leaves out the answer that the client has already. */
class ContinuedTransport extends StdioServerTransport {
  override send(message: Sent): Promise<void> {
    const isAnswered = !('method' in message) && message.id === ANSWERED;
    return isAnswered ? Promise.resolve() : super.send(message);
  }
}

/** @param lines of the client, from the first one that the library has to know */
export function serveByLibrary(offered: Offered, lines: Readable, stdout: Writable): void {
  const transport = new ContinuedTransport(lines, stdout, { maxBufferSize: 2 * LONGEST_MESSAGE_BYTES });
  serveStdio(() => createServer(offered), { transport });
}
