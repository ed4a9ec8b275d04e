/** A port in front of a peer, which can be closed: connections break, and new ones are refused. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class PortGate {
  private readonly port: number;
  private readonly target: URL;
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;

  /**
   * @param port where it listens, on the loopback
   * @param target `http://127.0.0.1:{port}` of the peer
   */
  constructor(port: number, target: string) {
    this.port = port;
    this.target = new URL(target);
  }

  /** Resolves when it listens. Idempotent. */
  async open(): Promise<void> {
    if (this.server !== null) return;
    const server = createServer((socket) => this.join(socket));
    this.server = server;
    await new Promise<void>((done, failed) => {
      server.once('error', failed);
      server.listen(this.port, '127.0.0.1', done);
    });
  }

  /** Idempotent. */
  close(): void {
    this.server?.close();
    this.server = null;
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  private join(socket: Socket): void {
    const peer = connect(Number(this.target.port), this.target.hostname);
    for (const [one, other] of [
      [socket, peer],
      [peer, socket],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => undefined);
      one.once('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
