/**
 * Prints the output of commands. Names, paths and words of others are in most lines, and a line end within one would let it look
 * like a line of ours: each line is printed as one. Nothing else in `bridge/cli` and `bridge/command` writes to a command's
 * streams.
 */
import { oneLine } from '../../src/log/visibleText.js';
import type { CommandIo } from './command.js';

/** @param lines one, or several */
export function printLines({ stdout }: Pick<CommandIo, 'stdout'>, lines: string | readonly string[]): void {
  stdout(textOf(lines));
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

function textOf(lines: string | readonly string[]): string {
  return `${[lines].flat().map(oneLine).join('\n')}\n`;
}
