/** `work list` in this process, and the sessions for it. */
import { command } from '../bridge/cli/work/work.js';
import type { CommandContext } from '../bridge/command/command.js';
import { readProcessIdentity } from '../src/host/identity.js';
import { createRedactor } from '../src/log/redact.js';

const redact = createRedactor([]);

/** @returns what it prints */
export async function listOf(home: string, options: readonly string[]): Promise<string> {
  let said = '';
  const context: CommandContext = {
    io: {
      stdout: (text) => {
        said += text;
      },
      stderr: (text) => {
        throw new Error(text);
      },
    },
    readSettings: () => Promise.reject(new Error('a list needs no settings')),
    surroundings: { directory: '/', process: readProcessIdentity('bench'), variables: { WATCHKEEPER_HOME: home } },
    openInput: () => null,
    input: process.stdin,
    logStream: process.stderr,
    redact,
    untilStopped: () => new AbortController().signal,
    handleSignals: () => undefined,
    startDetached: () => undefined,
    runProgram: () => Promise.reject(new Error('this command runs no program')),
  };
  await command.run(['list', '--all', ...options], context);
  return said;
}
