/** An agent of this proof: a process of its own that has started the server, and requests to that server by line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ownBuild } from '../../src/host/program.js';

interface Reply {
  readonly id: number;
  readonly result: { readonly structuredContent: Readonly<Record<string, unknown>>; readonly isError?: boolean };
}

/** Stays the server's parent, as an agent does. */
const PARENT = `
const { spawn } = require('node:child_process');
spawn(process.execPath, [process.argv[1]], { stdio: 'inherit' }).on('exit', () => process.exit());
`;
const REVISION = '2025-06-18';

export interface Answer {
  readonly isError: boolean;
  readonly value: Readonly<Record<string, unknown>>;
}

export class Agent {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (message: Reply) => void>();
  #last = 0;

  private constructor(home: string, directory: string) {
    const server = join(ownBuild(), 'bridge/mcp/main.cjs');
    this.#process = spawn(process.execPath, ['-e', PARENT, server], {
      cwd: directory,
      env: { PATH: process.env.PATH, HOME: home, WATCHKEEPER_HOME: home },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#process.stdin?.on('error', () => undefined);
    createInterface({ input: this.#process.stdout ?? process.stdin }).on('line', (line) => {
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    });
  }

  static async start(home: string, directory: string): Promise<Agent> {
    const agent = new Agent(home, directory);
    const clientInfo = { name: 'proof', version: '1' };
    await agent.#ask('initialize', { protocolVersion: REVISION, capabilities: {}, clientInfo });
    agent.#send({ method: 'notifications/initialized' });
    return agent;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  async call(name: string, args: object): Promise<Answer> {
    const { result } = await this.#ask('tools/call', { name, arguments: args });
    const { structuredContent: value, isError = false } = result;
    return { value, isError };
  }

  /** The server of a killed agent ends with its input. */
  async end(signal: 'SIGKILL' | null): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    if (signal !== null) this.#process.kill(signal);
    this.#process.stdin?.end();
    await gone;
  }

  #ask(method: string, params: object): Promise<Reply> {
    this.#last += 1;
    const id = this.#last;
    const answer = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    return answer;
  }

  #send(message: object): void {
    this.#process.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
