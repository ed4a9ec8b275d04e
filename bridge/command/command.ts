/** The interface of every command of the command line. */
import type { Surroundings } from '../../memory/sessions/surroundings.js';
import type { Settings } from '../../src/config/settings.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import type { Redact } from '../../src/log/redact.js';
import { oneLine } from '../../src/log/visibleText.js';
import type { RunProgram } from './runProgram.js';
import type { SignalHandlers } from './serviceSignals.js';

/** 0 fine, 1 found something, 2 usage or configuration, 3 unreachable. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface CommandIo {
  stdout(text: string): void;
  stderr(text: string): void;
  /** The terminal's width if standard output is one. */
  readonly columns?: number | undefined;
}

/** The process as a command sees it. */
export interface CommandContext {
  readonly io: CommandIo;
  /** Removes secrets, first of all those of this process; for text that does not go to `io`. */
  readonly redact: Redact;
  /** Read, validated and frozen at each call. Throws UsageError with every fault. Commands may call it without its object. */
  readonly readSettings: () => Promise<Settings>;
  /** The caller and its place: the commands of session memory find their session by them. */
  readonly surroundings: Surroundings;
  /** @returns lines that a person types; null if there is no terminal for that */
  openInput(): AsyncIterable<string> | null;
  /** Standard input, raw, for a command whose options ask for it. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Begins another command of this program, which outlives this one. Its output is not read. */
  startDetached(args: readonly string[]): void;
  readonly runProgram: RunProgram;
  /** Destination of log lines; standard output is only for the command's results. */
  readonly logStream: TerminalStream;
  /** For commands that serve: aborts when they are to stop. From then on no signal ends the process silently. */
  untilStopped(): AbortSignal;
  /** Sets a service's answers to the other signals, and to a second request to stop. */
  handleSignals(handlers: SignalHandlers): void;
}

export interface Command {
  /** Everything behind `--help`: usage, options, examples. */
  readonly help: string;
  /** @throws UsageError, UnreachableError */
  run(args: readonly string[], context: CommandContext): Promise<ExitCode>;
}

/** @param lines one, or several */
export function printLines({ stdout }: Pick<CommandIo, 'stdout'>, lines: string | readonly string[]): void {
  stdout(textOf(lines));
}

/** Prints the content of a file: its line ends are its own, and no line of ours follows. */
export function printContent({ stdout }: Pick<CommandIo, 'stdout'>, text: string): void {
  stdout(text);
}

/** Prints a value for programs, in one line. */
export function printJson({ stdout }: Pick<CommandIo, 'stdout'>, value: unknown): void {
  stdout(`${JSON.stringify(value)}\n`);
}

/** Says something that is not the result, on standard error. @param lines one, or several */
export function sayLines({ stderr }: Pick<CommandIo, 'stderr'>, lines: string | readonly string[]): void {
  stderr(textOf(lines));
}

/** @param messages of errors: the lines of each are lines already */
export function sayEach(io: Pick<CommandIo, 'stderr'>, messages: Iterable<string>): void {
  for (const message of messages) sayLines(io, message.split('\n'));
}

/** A line end within a name, a path or words of others would let them look like a line of ours: each line is printed as one. */
function textOf(lines: string | readonly string[]): string {
  return `${[lines].flat().map(oneLine).join('\n')}\n`;
}
