/** The command line as a real child process, without any Redis. */
import { spawnSync } from 'node:child_process';
import { compiledProgram } from '../../../src/host/program.js';

export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A command that hangs is killed: its exit code is null then. */
const LIMIT_MS = 30_000;

/** @param environment all of it */
export function watchkeeper(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Said {
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiledProgram('bridge/cli/main'), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environment },
    encoding: 'utf8',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  return { code: status, out: stdout, err: stderr };
}
