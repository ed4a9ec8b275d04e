import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { afterThisTest } from './scope.js';

/** A way to the test's Redis that can be shut, or lose what passes over it. */
export class RedisGate {
  readonly url: string;
  readonly #target: NetConnectOpts;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | null;

  private constructor(server: Server, port: number, target: NetConnectOpts) {
    this.#server = server;
    this.#port = port;
    this.#target = target;
    this.url = `redis://127.0.0.1:${port}`;
    server.on('connection', (socket) => this.#pass(socket));
  }

  static async before(redisUrl: string): Promise<RedisGate> {
    const { protocol, pathname, hostname, port } = new URL(redisUrl);
    const target = protocol === 'unix:' ? { path: pathname } : { host: hostname, port: Number(port) };
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const gate = new RedisGate(server, address.port, target);
    afterThisTest(() => gate.shut());
    return gate;
  }

  /** Connections break and are refused until it is opened again. */
  shut(): void {
    this.#server?.close();
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The connections of this instant stand and carry nothing any more; later ones work. So do routers that restart. */
  forgetConnections(): void {
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.resume();
    }
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
