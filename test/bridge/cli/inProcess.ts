/** A command without a process of its own, for tests that call it hundreds of times. */

import { Readable } from 'node:stream';
import type { Command, CommandContext } from '../../../bridge/command/command.js';
import type { Surroundings } from '../../../memory/sessions/surroundings.js';
import { createRedactor } from '../../../src/log/redact.js';
import type { Said } from './program.js';
import { SOMEWHERE } from './surroundings.js';

/** What differs from a caller without a memory and without a pipe. */
export interface Caller {
  readonly surroundings?: Surroundings;
  /** Called for each command that would go on by itself. */
  readonly detached?: (args: readonly string[]) => void;
  /** Called with each text on standard output, also of a command that fails later. */
  readonly heard?: (text: string) => void;
  /** Standard input. */
  readonly piped?: string;
  /** A line that a person types at a terminal. */
  readonly typed?: string;
  readonly runProgram?: CommandContext['runProgram'];
  /** Without it, the command gets no settings. */
  readonly readSettings?: CommandContext['readSettings'];
}

const noSettings = () => Promise.reject(new Error('this command needs no settings'));
const noProgram = () => Promise.reject(new Error('this command runs no program'));

export async function runCommand(
  command: Command,
  args: readonly string[],
  {
    surroundings = SOMEWHERE,
    piped,
    typed,
    detached,
    heard,
    runProgram = noProgram,
    readSettings = noSettings,
  }: Caller = {},
): Promise<Said> {
  let out = '';
  let err = '';
  const context: CommandContext = {
    io: {
      stdout: (text) => {
        out += text;
        heard?.(text);
      },
      stderr: (text) => {
        err += text;
      },
    },
    readSettings,
    surroundings,
    openInput: () => (typed === undefined ? null : Readable.from([typed])),
    input: piped === undefined ? process.stdin : Readable.from([Buffer.from(piped)]),
    startDetached: (begun) => detached?.(begun),
    runProgram,
    logStream: process.stderr,
    redact: createRedactor([]),
    untilStopped: () => new AbortController().signal,
    handleSignals: () => undefined,
  };
  const code = await command.run(args, context);
  return { code, out, err };
}
