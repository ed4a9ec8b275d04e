/** A real child process of a scene, with everything that it says. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { eventually } from './eventually.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Real milliseconds from its start, or from the last signal that the scene sent. */
  readonly tookMs: number;
}

export interface ProgramOptions {
  readonly workingDirectory: string;
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where its output is kept as well. */
  readonly outputFile?: string;
}

const LONGEST_OUTPUT_SHOWN = 4_000;

export class Program {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  exit: Exit | null = null;
  stdout = '';
  stderr = '';
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #words: string;
  #since = performance.now();

  constructor(command: string, args: readonly string[], options: ProgramOptions) {
    this.#words = [command, ...args].join(' ');
    this.#child = spawn(command, args, {
      cwd: options.workingDirectory,
      env: options.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.pid = this.#child.pid ?? 0;
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      if (options.outputFile !== undefined) appendFileSync(options.outputFile, text);
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      if (options.outputFile !== undefined) appendFileSync(options.outputFile, text);
    });
    this.exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      // `close`, not `exit`: only then all that it said was heard.
      this.#child.once('close', (code, signal) => {
        this.exit = { code, signal, tookMs: performance.now() - this.#since };
        resolve(this.exit);
      });
    });
    // Whoever waits hears of it; nobody has to.
    this.exited.catch(() => undefined);
  }

  /** Does nothing to one that has ended. */
  signal(name: NodeJS.Signals): void {
    this.#since = performance.now();
    if (this.exit === null) this.#child.kill(name);
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<Exit> {
    this.signal('SIGKILL');
    return this.exited;
  }

  /**
   * Asks it to stop.
   * @throws Error where it does not end in time; it is killed then
   */
  async stop(withinMs = 20_000): Promise<Exit> {
    this.signal('SIGTERM');
    try {
      return await eventually(() => this.exit, { what: `the end of ${this.#words}`, withinMs });
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  /**
   * What it has done is often seen before its words have come through their pipe.
   * @throws Error where its standard error does not hold the text in time
   */
  async says(text: string): Promise<void> {
    const instead = () => this.stderr.slice(-LONGEST_OUTPUT_SHOWN);
    await eventually(() => this.stderr.includes(text), { what: `"${text}" from ${this.#words}`, instead });
  }

  /** @returns its last words, for a failing test */
  lastWords(): string {
    return `${this.#words}\n${this.stdout.slice(-LONGEST_OUTPUT_SHOWN)}${this.stderr.slice(-LONGEST_OUTPUT_SHOWN)}`;
  }
}
