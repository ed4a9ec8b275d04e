import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterThisTest } from '../harness/scope.js';

/** A way to the test's Redis that can be shut: connections break and are refused until it is opened again. */
export class RedisGate {
  readonly url: string;
  readonly #target: { host: string; port: number };
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | null;

  private constructor(server: Server, port: number, target: { host: string; port: number }) {
    this.#server = server;
    this.#port = port;
    this.#target = target;
    this.url = `redis://127.0.0.1:${port}`;
    server.on('connection', (socket) => this.#pass(socket));
  }

  static async before(redisUrl: string): Promise<RedisGate> {
    const { hostname, port } = new URL(redisUrl);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const gate = new RedisGate(server, address.port, { host: hostname, port: Number(port) });
    afterThisTest(() => gate.shut());
    return gate;
  }

  shut(): void {
    this.#server?.close();
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
  }

  async open(): Promise<void> {
    this.#server = createServer((socket) => this.#pass(socket)).listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  #pass(socket: Socket): void {
    const onward = connect(this.#target);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
