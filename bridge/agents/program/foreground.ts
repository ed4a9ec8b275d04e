/** Runs a program for a person, in this terminal, as an agent of a project would run: for logins, and to see what agents see. */
import { spawn } from 'node:child_process';
import { lineOfUser } from './agentUser.js';
import type { AgentSurroundings } from './contract.js';
import type { CommandLine } from './findProgram.js';
import { sandboxedLine } from './sandbox.js';

/**
 * The program gets a session of its own, without a controlling terminal: what runs among an agent's files must not be able to
 * type into the terminal of its person. A shell has no job control there, therefore.
 * @returns its exit code; null if a signal ended it
 * @throws the system's error if it cannot be started, and as {@link sandboxedLine}
 */
export async function runInForeground(line: CommandLine, surroundings: AgentSurroundings): Promise<number | null> {
  const { command, args } = lineOfUser(sandboxedLine(line, surroundings), surroundings.user);
  const { workingDirectory: cwd, environment: env } = surroundings;
  const child = spawn(command, args, { cwd, env, detached: true, stdio: 'inherit' });
  const passOn = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGWINCH'] as const;
  for (const signal of signals) process.on(signal, passOn);
  try {
    return await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
  } finally {
    for (const signal of signals) process.off(signal, passOn);
  }
}
