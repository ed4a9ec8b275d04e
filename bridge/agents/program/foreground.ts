/** Runs a program for a person, in this terminal, as an agent of a project would run: for logins, and to see what agents see. */
import { spawn } from 'node:child_process';
import { lineOfUser } from './agentUser.js';
import type { AgentSurroundings } from './contract.js';
import type { CommandLine } from './findProgram.js';
import { withoutInherited } from './inheritedDescriptors.js';
import { sandboxedLine } from './sandbox.js';

/** The signals of a terminal or an operator, besides the request to stop for a while. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGWINCH', 'SIGQUIT'] as const;

/**
 * The program gets a session of its own, without a controlling terminal: a program that runs among an agent's files must not be
 * able to type into its person's terminal, nor read from it when the person has left. So a shell has no job control there.
 * @returns its exit code; null if a signal ended it
 * @throws the system's error if it cannot be started, and as {@link sandboxedLine}
 */
export async function runInForeground(line: CommandLine, surroundings: AgentSurroundings): Promise<number | null> {
  const { command, args } = lineOfUser(sandboxedLine(line, surroundings), surroundings.user);
  const { workingDirectory: cwd, environment: env } = surroundings;
  const stdio = withoutInherited<'inherit'[]>(['inherit', 'inherit', 'inherit']);
  const child = spawn(command, args, { cwd, env, detached: true, stdio });
  const signalAll = (signal: NodeJS.Signals) => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // Nothing of it is left.
    }
  };
  const pause = () => {
    signalAll('SIGSTOP');
    process.kill(process.pid, 'SIGSTOP');
  };
  const resume = () => signalAll('SIGCONT');
  for (const signal of PASSED_ON) process.on(signal, signalAll);
  process.on('SIGTSTP', pause).on('SIGCONT', resume);
  try {
    return await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
  } finally {
    signalAll('SIGKILL');
    for (const signal of PASSED_ON) process.off(signal, signalAll);
    process.off('SIGTSTP', pause).off('SIGCONT', resume);
  }
}
