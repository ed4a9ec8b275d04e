/** What every command of the command line looks like. */
import type { Settings } from '../../src/config/settings.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import type { Redact } from '../../src/log/redact.js';
import type { SignalHandlers } from './serviceSignals.js';

/** 0 fine, 1 found something, 2 usage or configuration, 3 unreachable. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface CommandIo {
  stdout(text: string): void;
  stderr(text: string): void;
  /** How wide the terminal is that standard output is; missing where it is none. */
  readonly columns?: number | undefined;
}

/** What the process hands to a command. */
export interface CommandContext {
  readonly io: CommandIo;
  /** Takes out secrets, those of this process first; for what goes elsewhere than to `io`. */
  readonly redact: Redact;
  /** Read, validated and frozen at each call. Throws UsageError with every fault. Commands may take it out of its object. */
  readonly readSettings: () => Promise<Settings>;
  /** @returns lines that a person types; null where nobody can */
  openInput(): AsyncIterable<string> | null;
  /** Standard input as it comes, for a command that was told to read it. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Where log lines go; standard output is for what was asked for. */
  readonly logStream: TerminalStream;
  /**
   * For commands that serve until they are told to stop; all others end at once.
   * @returns aborts when they are told so; from then on no signal ends the process without a word
   */
  untilStopped(): AbortSignal;
  /** What a service does about the other signals, and about a second request to stop. */
  handleSignals(handlers: SignalHandlers): void;
}

export interface Command {
  /** Everything behind `--help`: usage, options, examples. */
  readonly help: string;
  /** @throws UsageError, UnreachableError */
  run(args: readonly string[], context: CommandContext): Promise<ExitCode>;
}
