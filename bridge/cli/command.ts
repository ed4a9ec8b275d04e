/** What every command of the command line looks like. */
import type { Settings } from '../../src/config/settings.js';
import type { TerminalStream } from '../../src/logDestinations.js';

/** 0 fine, 1 found something, 2 usage or configuration, 3 unreachable. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface CommandIo {
  stdout(text: string): void;
  stderr(text: string): void;
}

/** What the process hands to a command. */
export interface CommandContext {
  readonly io: CommandIo;
  /** Read, validated and frozen at the first call. Throws UsageError with every fault. */
  readSettings(): Promise<Settings>;
  /** Lines that a person types; null where nobody can. */
  readonly input: AsyncIterable<string> | null;
  /** Where log lines go; standard output is for what was asked for. */
  readonly logStream: TerminalStream;
  /** Aborts at SIGTERM or SIGINT. Asked for, it keeps them from ending the process. */
  readonly stopping: AbortSignal;
}

export interface Command {
  /** Everything behind `--help`: usage, options, examples. */
  readonly help: string;
  /** @throws UsageError, UnreachableError */
  run(args: readonly string[], context: CommandContext): Promise<ExitCode>;
}
