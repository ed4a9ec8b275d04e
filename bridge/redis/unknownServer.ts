/**
 * A server of this folder that still runs although its record is missing or damaged. It cannot be adopted, and a second one on
 * the same data would corrupt it, so it has to end first. The folder is claimed before, so no living process owns the server.
 */
import { readFileSync } from 'node:fs';
import { UsageError } from '../../src/errors.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { type Clock, SECOND } from '../../src/time.js';
import { pidPath, socketUrl } from './places.js';
import { endByConnection } from './serverProcess.js';

const STOP_LIMIT_MS = 10 * SECOND;

/** @throws UsageError if it does not end, or cannot be reached because its password was lost with the record */
export async function endUnknownServer(folder: string, clock: Clock, stopping: AbortSignal): Promise<void> {
  const url = socketUrl(folder);
  if (url === null) return refuseIfRunning(folder);
  if (await endByConnection(url, STOP_LIMIT_MS, clock, stopping)) return;
  throw new UsageError(`a Redis without a record answers at ${url}; end it, and start again`);
}

function refuseIfRunning(folder: string): void {
  const pid = readPid(folder);
  if (pid === null || readProcessIdentity('', pid).pid_start === '') return;
  throw new UsageError(
    `process ${pid} may still be the Redis of ${folder}, whose record is missing or damaged; end it (or, where it is something else, delete ${pidPath(folder)}), and start again`,
  );
}

function readPid(folder: string): number | null {
  try {
    const pid = Number(readFileSync(pidPath(folder), 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}
