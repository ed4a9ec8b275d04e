/** A word of `worktree`, called in this process. */
import { command } from '../../../../bridge/cli/worktree/worktree.js';
import { programRunner } from '../../../../bridge/command/runProgram.js';
import { UsageError, WatchkeeperError } from '../../../../src/errors.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { systemClock } from '../../../../src/time.js';
import { runCommand } from '../inProcess.js';
import type { Said } from '../program.js';

interface Called {
  readonly directory: string;
  readonly variables: Readonly<Record<string, string>>;
  /** As of {@link runCommand}. */
  readonly typed?: string | undefined;
}

/** Errors become what the command line makes of them. */
export async function called(args: readonly string[], { directory, variables, typed }: Called): Promise<Said> {
  const surroundings = { directory, process: readProcessIdentity('host'), variables };
  const runProgram = programRunner(variables, systemClock);
  const readSettings = () => Promise.reject(new UsageError('no bridge is configured'));
  try {
    return await runCommand(command, args, {
      ...{ surroundings, runProgram, readSettings },
      ...(typed !== undefined && { typed }),
    });
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    return { code: error instanceof UsageError ? 2 : 3, out: '', err: error.message };
  }
}
