/** A real terminal for a program that people use in one: a tmux server of its own, on which keys are pressed. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../../../../src/time.js';

const LOOK_EVERY_MS = 200;
const PATIENCE_MS = 60 * SECOND;
const COLUMNS = 120;
const ROWS = 40;

export class Terminal {
  readonly #socket = `recording-${randomBytes(4).toString('hex')}`;

  /**
   * @param command program and arguments
   * @param environment everything that the program knows of its surroundings
   */
  constructor(command: readonly string[], environment: Readonly<Record<string, string>>, folder: string) {
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const size = ['-x', String(COLUMNS), '-y', String(ROWS)];
    // tmux hands the words to the program as they are only where there is more than one.
    const program = ['env', '-i', `PATH=${process.env.PATH}`, 'TERM=xterm-256color', 'LANG=C.UTF-8', ...variables];
    // The last screen of a program that has ended says why.
    const settings = ['-f', '/dev/null', 'set-option', '-g', 'remain-on-exit', 'on', ';'];
    this.#tmux([...settings, 'new-session', '-d', ...size, '-c', folder, ...program, ...command]);
  }

  type(text: string): void {
    this.#tmux(['send-keys', '-l', text]);
  }

  /** @param keys as tmux names them: `Enter`, `Escape`, `C-c`, … */
  press(...keys: readonly string[]): void {
    this.#tmux(['send-keys', ...keys]);
  }

  screen(): string {
    return this.#tmux(['capture-pane', '-p']);
  }

  /** @throws Error with the screen, after a minute */
  async shows(pattern: RegExp): Promise<void> {
    await this.#until(() => pattern.test(this.screen()), `not shown: ${pattern}`);
  }

  /** Resolves when the program has ended. */
  async ended(): Promise<void> {
    await this.#until(() => this.#hasEnded(), 'not ended');
  }

  /** Resolves when the program is gone; it may still write while it ends. */
  async close(): Promise<void> {
    const pid = Number(this.#tmux(['display-message', '-p', '#{pane_pid}']));
    this.#tmux(['kill-server']);
    const limit = Date.now() + PATIENCE_MS;
    while (isAlive(pid) && Date.now() < limit) await pause(LOOK_EVERY_MS);
  }

  #hasEnded(): boolean {
    return this.#tmux(['display-message', '-p', '#{pane_dead}']).trim() === '1';
  }

  async #until(isTrue: () => boolean, what: string): Promise<void> {
    const limit = Date.now() + PATIENCE_MS;
    while (!isTrue()) {
      if (Date.now() > limit) throw new Error(`${what}\n${this.screen()}`);
      await pause(LOOK_EVERY_MS);
    }
  }

  #tmux(words: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
