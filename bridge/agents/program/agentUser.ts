/**
 * Starts agents as another user than the bridge's, so that the kernel keeps them away from the bridge's files, environment and
 * process. The bridge needs the right to do so (CAP_SETUID, CAP_SETGID) and to end them (CAP_KILL). The container's entry point
 * gives it these three and no others; an agent gets none of them.
 */
import type { AgentUser } from '../../../src/config/agentUser.js';
import { type CommandLine, systemProgram, tryOut } from './findProgram.js';

/** The bridge's own files are private to its user; an agent's files belong to the project. */
const ORDINARY_FILES = 'umask 022; exec "$@"';

/** @returns the line that runs as that user; unchanged for null or undefined */
export function lineOfUser(line: CommandLine, user: AgentUser | null | undefined): CommandLine {
  if (user == null) return line;
  const ids = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const rights = ['--inh-caps=-all', '--ambient-caps=-all', '--no-new-privs'];
  const args = [systemProgram('setpriv') ?? 'setpriv', ...ids, ...rights, '--', line.command, ...line.args];
  return { command: '/bin/sh', args: ['-c', ORDINARY_FILES, 'sh', ...args] };
}

/** @returns why agents cannot be started as that user, in a clause; null if they can */
export function whyNotAs(user: AgentUser | null): string | null {
  if (user === null) return null;
  const { status, stdout, stderr } = tryOut(lineOfUser({ command: '/bin/sh', args: ['-c', 'id -u'] }, user));
  if (status === 0 && stdout.trim() === String(user.uid)) return null;
  return `agents cannot be started as user ${user.uid} (${(stderr ?? '').trim().split('\n')[0] || 'setpriv does not work'})`;
}
