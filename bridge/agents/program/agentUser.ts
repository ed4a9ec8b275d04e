/**
 * Starts agents as another user than the bridge's, so that the kernel keeps them away from the bridge's files, environment and
 * process. The bridge needs the right to do so (CAP_SETUID, CAP_SETGID) and to end them (CAP_KILL). The container's entry point
 * gives it these three and no others; an agent gets none of them.
 */
import { spawnSync } from 'node:child_process';
import type { AgentUser } from '../../../src/config/agentUser.js';
import { SECOND } from '../../../src/time.js';
import { findProgram } from './findProgram.js';
import type { ProgramLine } from './markedLine.js';

const PLACES = '/usr/bin:/bin:/usr/local/bin';
const TRIAL_LIMIT_MS = 5 * SECOND;
/** The bridge's own files are private to its user; an agent's files belong to the project. */
const ORDINARY_FILES = 'umask 022; exec "$@"';

/** @returns the line that runs as that user; unchanged for null or undefined */
export function lineOfUser(line: ProgramLine, user: AgentUser | null | undefined): ProgramLine {
  if (user == null) return line;
  const found = findProgram('setpriv', PLACES, '/');
  const setpriv = found.kind === 'found' ? found.path : 'setpriv';
  const ids = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const rights = ['--inh-caps=-all', '--ambient-caps=-all', '--no-new-privs'];
  const args = [setpriv, ...ids, ...rights, '--', line.command, ...line.args];
  return { command: '/bin/sh', args: ['-c', ORDINARY_FILES, 'sh', ...args] };
}

/** @returns why agents cannot be started as that user, in a clause; null if they can */
export function whyNotAs(user: AgentUser | null): string | null {
  if (user === null) return null;
  const { command, args } = lineOfUser({ command: '/bin/sh', args: ['-c', 'id -u'] }, user);
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: '/',
    env: {},
    encoding: 'utf8',
    timeout: TRIAL_LIMIT_MS,
  });
  if (status === 0 && stdout.trim() === String(user.uid)) return null;
  return `agents cannot be started as user ${user.uid} (${(stderr ?? '').trim().split('\n')[0] || 'setpriv does not work'})`;
}
