/** A real Redis that belongs to one scene, so that nothing of another one can reach it. */
import { accessSync, constants, cpSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from './eventually.js';
import { Program } from './program.js';

const PROGRAMS = ['redis-server', 'valkey-server'] as const;

/** @returns the path of a server on PATH; null where there is none */
export function findRedisServer(searchPath = process.env.PATH ?? ''): string | null {
  const candidates = PROGRAMS.flatMap((name) =>
    searchPath.split(delimiter).flatMap((folder) => (folder === '' ? [] : [join(folder, name)])),
  );
  return candidates.find(isExecutable) ?? null;
}

/** As the product wants it. */
export const GOOD_SETTINGS = ['--save', '', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction'];

/** Started anew it has its data again, as a Redis that an operator restarts. */
export class RedisServer {
  /** For REDIS_URL. */
  readonly url: string;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #settings: readonly string[];
  #server: Program | null = null;
  /** That {@link ask} logs in with. */
  password: string | null = null;

  /**
   * @param folder must be short: the path of a socket ends at about 100 bytes
   * @param environment the server's whole environment
   * @param settings on its command line, instead of those that the product wants
   */
  constructor(folder: string, environment: Readonly<Record<string, string>>, settings = GOOD_SETTINGS) {
    this.#folder = folder;
    this.#environment = environment;
    this.#settings = settings;
    this.url = `unix://${this.#socket}`;
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const program = findRedisServer();
    if (program === null) throw new Error(`neither ${PROGRAMS.join(' nor ')} is on PATH`);
    mkdirSync(this.#folder, { recursive: true });
    const listening = ['--port', '0', '--unixsocket', this.#socket, '--dir', this.#folder];
    const server = new Program(program, [...listening, ...this.#settings], {
      workingDirectory: this.#folder,
      environment: this.#environment,
    });
    this.#server = server;
    await eventually(() => /ready to accept connections/i.test(server.stdout), {
      what: 'a Redis that is ready',
      instead: () => server.lastWords(),
    });
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  /** SIGKILL, as the kernel does it when memory ends. */
  async kill(): Promise<void> {
    await this.#server?.kill();
  }

  /** SIGSTOP: it keeps its connections, takes new ones, and answers nothing. */
  pause(): void {
    this.#server?.signal('SIGSTOP');
  }

  resume(): void {
    this.#server?.signal('SIGCONT');
  }

  /** One command over a connection of its own, which must be allowed to send it. */
  async ask(command: string, ...args: string[]): Promise<unknown> {
    const redis = new Redis({
      path: this.#socket,
      protocol: 2,
      ...(this.password !== null && { password: this.password }),
    });
    try {
      return await redis.call(command, ...args);
    } finally {
      redis.disconnect();
    }
  }

  /** Keeps everything that is stored at this instant. */
  keepCopy(): void {
    rmSync(this.#copy, { recursive: true, force: true });
    cpSync(this.#data, this.#copy, { recursive: true });
  }

  /** Killed, and followed by one that knows nothing of what was stored since {@link keepCopy}. */
  async failOver(): Promise<void> {
    await this.kill();
    rmSync(this.#data, { recursive: true });
    cpSync(this.#copy, this.#data, { recursive: true });
    await this.start();
  }

  get #data(): string {
    return join(this.#folder, 'appendonlydir');
  }

  get #copy(): string {
    return join(this.#folder, 'copy');
  }

  get #socket(): string {
    return join(this.#folder, 'redis.sock');
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
