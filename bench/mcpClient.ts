/** A client of a server of tools, without a library: it adds no time of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

export interface ServerCommand {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };

export class McpClient {
  readonly #server: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #next = 1;
  #rest = '';

  constructor({ words: [program = '', ...args], cwd, env }: ServerCommand) {
    this.#server = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#server.stdout?.on('data', (chunk: Buffer) => this.#take(chunk.toString('utf8')));
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const answer: Answer = JSON.parse(line);
      this.#waiting.get(answer.id)?.(answer);
    }
  }

  ask(method: string, params: object = {}): Promise<Answer> {
    const id = this.#next++;
    const answer = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    return answer.finally(() => this.#waiting.delete(id));
  }

  /** As agents do: nothing waits for the answer of `initialize`. @returns the number of tools */
  async list(): Promise<number> {
    void this.ask('initialize', CLIENT);
    this.#send({ method: 'notifications/initialized' });
    const { result } = await this.ask('tools/list');
    return result?.tools?.length ?? 0;
  }

  /** @throws Error if the tool answers with an error */
  async call(name: string, args: object): Promise<void> {
    const { result, error } = await this.ask('tools/call', { name, arguments: args });
    if (error !== undefined || result?.isError === true) throw new Error(`${name}: ${JSON.stringify(result ?? error)}`);
  }

  /** @returns the memory of the server in bytes, and its open files */
  get held(): { readonly bytes: number; readonly files: number } {
    const { pid } = this.#server;
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return { bytes: Number(kilobytes) * 1024, files: readdirSync(`/proc/${pid}/fd`).length };
  }

  async end(): Promise<void> {
    const ended = once(this.#server, 'exit');
    this.#server.stdin?.end();
    await ended;
  }

  #send(message: object): void {
    this.#server.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

interface Answer {
  readonly id: number;
  readonly result?: { readonly tools?: readonly unknown[]; readonly isError?: boolean };
  readonly error?: unknown;
}
