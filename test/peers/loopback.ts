/** What both peers need of node:http: a server on a free loopback port, whole bodies, and broken connections. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface LoopbackServer {
  /** `http://127.0.0.1:{port}`, without a slash at the end. */
  readonly url: string;
  /** Breaks every open connection; resolves when the port is free. Idempotent. */
  stop(): Promise<void>;
}

/** @param handle may reject: the connection is then broken, as a crashed server would leave it */
export async function listenOnLoopback(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<LoopbackServer> {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => breakConnection(request));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  let stopped: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: () => {
      stopped ??= close(server);
      return stopped;
    },
  };
}

/** @throws Error when the client goes away before its body is complete */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Sends a TCP reset: the client sees ECONNRESET instead of an answer. */
export function breakConnection(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
