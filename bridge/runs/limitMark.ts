/** Gives an agent the mark that survives an emptied environment; see src/host/marks.ts. */
import { spawn } from 'node:child_process';
import { limitMarkOf } from '../../src/host/marks.js';
import { SECOND } from '../../src/time.js';

/** Nothing of the bridge's own environment is any business of it. */
const ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/local/bin' };
const LIMIT_MS = 2 * SECOND;

/**
 * Node cannot set limits, so util-linux' `prlimit` does it, to a process that has just been started: what this starts within
 * the first milliseconds has the mark in its environment alone. Never throws.
 * @param pid the agent's process
 * @returns when it is done; false where this host has no such program, or the process has gone
 */
export function markByLimit(runId: string, pid: number): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('prlimit', ['--pid', String(pid), `--locks=${limitMarkOf(runId)}:`], {
      env: ENVIRONMENT,
      stdio: 'ignore',
      timeout: LIMIT_MS,
    });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}
