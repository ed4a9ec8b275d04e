/**
 * `GET /livez`: this process answers. `GET /readyz`: every condition of its work, with its reading; 503 if one is red. It is
 * meant for the supervisor of the process, so by default it listens on loopback. It discloses no secrets.
 *
 * Clients that only connect must not shut out those that ask. If there are too many connections, the one that has waited
 * longest without a request is closed. An answer is kept for a moment, so that it is available at once.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { describeError, UsageError } from '../../src/errors.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import { atMost, type Clock, describeDuration, SECOND } from '../../src/time.js';

export interface Condition {
  readonly name: string;
  readonly ok: boolean;
  /** A sentence, without secrets. */
  readonly reading: string;
}

export interface Gauge {
  readonly name: string;
  read(): Promise<Omit<Condition, 'name'>>;
}

export interface HealthServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly gauges: readonly Gauge[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** False: if the port is taken, the process works without it. */
  readonly isRequired: boolean;
}

const READING_WITHIN_MS = 2 * SECOND;
/** Each connection takes a descriptor that agents and journals need, so there are few, and none for long. */
const MOST_CONNECTIONS = 128;
const REQUEST_WITHIN_MS = 5 * SECOND;
/** How long a reading is reused. */
const READING_SERVES_MS = SECOND;
const LIMITS = {
  headersTimeout: REQUEST_WITHIN_MS,
  requestTimeout: REQUEST_WITHIN_MS,
  connectionsCheckingInterval: SECOND,
} as const;

export class HealthServer implements Service {
  readonly name = 'health';
  readonly #options: HealthServerOptions;
  #server: Server | null = null;
  #reading: Promise<readonly Condition[]> | null = null;
  #lastRead: { readonly at: number; readonly conditions: readonly Condition[] } | null = null;
  /** The oldest first; true: it has sent a request and has no answer yet. */
  readonly #sockets = new Map<Socket, boolean>();

  constructor(options: HealthServerOptions) {
    this.#options = options;
  }

  get port(): number | null {
    const address = this.#server?.address() as AddressInfo | null | undefined;
    return address?.port ?? null;
  }

  /** @throws UsageError if the address is not available and the server is required */
  async start(): Promise<void> {
    if (this.#server !== null) return;
    const { host, port, logger, isRequired } = this.#options;
    const server = createServer(LIMITS, (request, response) => void this.#answer(request, response));
    server.on('connection', (socket) => this.#keepFew(socket));
    try {
      server.listen(port, host);
      await once(server, 'listening');
    } catch (error) {
      const words = `HEALTH_PORT: ${host}:${port} cannot be listened on (${describeError(error)})`;
      if (isRequired) throw new UsageError(`${words}; stop what listens there, or choose another port`);
      logger.warn(`${words}; this process works on without telling its health`);
      return;
    }
    this.#server = server;
    logger.info(`health is served at http://${host}:${this.port}/readyz and /livez`);
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }

  #keepFew(socket: Socket): void {
    this.#sockets.set(socket, false);
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.#sockets.size <= MOST_CONNECTIONS) return;
    for (const [other, isAsking] of this.#sockets) {
      if (isAsking) continue;
      other.destroy();
      this.#sockets.delete(other);
      return;
    }
    socket.destroy();
  }

  async #answer({ method, url, headers, socket }: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#sockets.set(socket, true);
    const path = (url ?? '/').split('?')[0];
    if (!mayAskAs(headers.host, this.#options.host)) {
      return send(response, 421, { error: 'ask by IP address, or as localhost' });
    }
    if (method !== 'GET' && method !== 'HEAD') return send(response, 405, { error: 'only GET' });
    if (path === '/livez') return send(response, 200, { alive: true });
    if (path !== '/readyz') return send(response, 404, { error: 'ask for /livez or /readyz' });
    const conditions = await this.#readAll();
    const ready = conditions.every(({ ok }) => ok);
    send(response, ready ? 200 : 503, { ready, conditions });
  }

  /** Requests within a moment share one reading, because it writes to Redis. */
  async #readAll(): Promise<readonly Condition[]> {
    const { clock, gauges } = this.#options;
    const last = this.#lastRead;
    if (last !== null && clock.monotonic() < last.at + READING_SERVES_MS) return last.conditions;
    this.#reading ??= Promise.all(gauges.map((gauge) => this.#read(gauge)))
      .then((conditions) => {
        this.#lastRead = { at: clock.monotonic(), conditions };
        return conditions;
      })
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  async #read(gauge: Gauge): Promise<Condition> {
    const { name } = gauge;
    const late = { ok: false, reading: `no answer within ${describeDuration(READING_WITHIN_MS)}` };
    try {
      return { name, ...(await atMost(this.#options.clock, READING_WITHIN_MS, gauge.read(), late)) };
    } catch (error) {
      this.#options.logger.debug({ err: error }, `${name} could not be read`);
      return { name, ok: false, reading: 'it failed; see the log' };
    }
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  // A connection that stays open would take the place of the next client.
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`${JSON.stringify(body)}\n`);
}

/** A web page in a browser on this host can point its own name at loopback: so there, the name must be one of loopback's own. */
function mayAskAs(header: string | undefined, listensOn: string): boolean {
  if (header === undefined || !isLoopback(listensOn)) return true;
  const name = header
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return isIP(name) !== 0 || isLoopback(name) || name === listensOn.toLowerCase();
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name);
}
