/** A command without a process of its own, for tests that call it hundreds of times. It gets no settings. */
import type { Command, CommandContext } from '../../../bridge/cli/command.js';
import { createRedactor } from '../../../src/log/redact.js';
import type { Said } from './program.js';

export async function runCommand(command: Command, args: readonly string[]): Promise<Said> {
  let out = '';
  let err = '';
  const context: CommandContext = {
    io: {
      stdout: (text) => {
        out += text;
      },
      stderr: (text) => {
        err += text;
      },
    },
    readSettings: () => Promise.reject(new Error('this command needs no settings')),
    openInput: () => null,
    input: process.stdin,
    logStream: process.stderr,
    redact: createRedactor([]),
    untilStopped: () => new AbortController().signal,
    handleSignals: () => undefined,
  };
  const code = await command.run(args, context);
  return { code, out, err };
}
