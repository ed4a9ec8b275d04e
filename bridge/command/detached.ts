/** Commands that outlive their caller. */
import { spawn } from 'node:child_process';
import { AGENT_PROGRAMS } from '../../src/agents/programs.js';
import { compiledProgram } from '../../src/host/program.js';
import { SECRET_VARIABLES } from '../../src/log/redact.js';

/** Where it finds transcripts, as whom it runs, and what it must not write anywhere. */
const VARIABLES = [
  ...['HOME', 'PATH', 'WATCHKEEPER_HOST'],
  ...AGENT_PROGRAMS.map(({ folderVariable }) => folderVariable),
  ...SECRET_VARIABLES,
];

/** Begins another command of this program, with the variables that it needs. Its output is not read. */
export function startDetached(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const env = Object.fromEntries(VARIABLES.map((name) => [name, environment[name]]));
  const program = compiledProgram('bridge/cli/main');
  const child = spawn(process.execPath, [program, ...args], { cwd: '/', env, detached: true, stdio: 'ignore' });
  // If it cannot begin, a later check of the session finds that nothing was kept.
  child.on('error', () => undefined);
  child.unref();
}
