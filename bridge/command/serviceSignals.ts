/**
 * The meaning of signals for a command that serves until it is asked to stop:
 *
 * SIGTERM, SIGINT, SIGQUIT   stop in order; the second time, at once
 * SIGHUP                     the terminal was closed: stop in order, and say why. Without a terminal: read the configuration again
 * SIGUSR1, SIGUSR2           noted and ignored: by default one opens a debugger's port, the other ends the process
 */
import { atMost, type Clock, SECOND } from '../../src/time.js';

/** A service's answers to them once it runs. */
export interface SignalHandlers {
  log(sentence: string): void;
  /** Reads the configuration again. Never throws. */
  reload(): Promise<unknown>;
  /** Saves at once all that must not be lost. Never throws. */
  stopNow(): Promise<void>;
}

export interface SignalSurroundings {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
  /** For a line before there is a log. */
  write(text: string): void;
  /** Whether a person reads or types in it. */
  readonly hasTerminal: boolean;
}

const STOPPING = { SIGTERM: 143, SIGINT: 130, SIGQUIT: 131 } as const;
/** After the second request, even if the store does not answer. */
const STOP_NOW_MS = 10 * SECOND;

export class ServiceSignals {
  readonly #surroundings: SignalSurroundings;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  #handlers: SignalHandlers | null = null;
  #isStoppingNow = false;

  constructor(surroundings: SignalSurroundings, clock: Clock) {
    this.#surroundings = surroundings;
    this.#clock = clock;
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Before this a second request ends the process, and the configuration is not read again. */
  handle(handlers: SignalHandlers): void {
    this.#handlers = handlers;
  }

  listen(): void {
    const { hasTerminal } = this.#surroundings;
    for (const [name, code] of Object.entries(STOPPING) as [keyof typeof STOPPING, number][])
      this.#surroundings.on(name, () => this.#stop(name, code));
    this.#surroundings.on('SIGHUP', () => (hasTerminal ? this.#leaveTerminal() : this.#reload()));
    for (const name of ['SIGUSR1', 'SIGUSR2'] as const)
      this.#surroundings.on(name, () => this.#say(`${name} means nothing to Watchkeeper; nothing was done`));
  }

  #stop(name: string, code: number): void {
    if (!this.#stopping.signal.aborted) {
      this.#say(`${name}: asked to stop`);
      this.#stopping.abort();
      return;
    }
    this.#say(`${name}: asked to stop again, so it stops at once`);
    const handlers = this.#isStoppingNow ? null : this.#handlers;
    this.#isStoppingNow = true;
    const exit = () => this.#surroundings.exit(code);
    if (handlers === null) exit();
    else void atMost(this.#clock, STOP_NOW_MS, handlers.stopNow(), undefined).finally(exit);
  }

  /** The shell repeats the kernel's signal: the second one is no impatience. */
  #leaveTerminal(): void {
    if (this.#stopping.signal.aborted) return;
    this.#say(
      'SIGHUP: in a terminal this means that the terminal was closed, so it stops; `watchkeeper reload` reads the configuration again',
    );
    this.#stopping.abort();
  }

  #reload(): void {
    const handlers = this.#handlers;
    if (this.#stopping.signal.aborted)
      this.#say('SIGHUP: the configuration is not read again, because this process is stopping');
    else if (handlers === null)
      this.#say('SIGHUP: the configuration is not read again, because this process is still starting');
    else void handlers.reload();
  }

  #say(sentence: string): void {
    if (this.#handlers === null) this.#surroundings.write(`watchkeeper: ${sentence}\n`);
    else this.#handlers.log(sentence);
  }
}
