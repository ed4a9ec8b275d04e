/** The server of a logs folder, which is claimed before: the one that a dead bridge left, or a new one on the same data. */
import { readFileSync } from 'node:fs';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { isProcessAlive, type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import {
  choosePlace,
  type Endpoint,
  endpointPath,
  pidPath,
  placeOf,
  readEndpoint,
  socketUrl,
  writeEndpoint,
} from './endpoint.js';
import { findServerProgram } from './programs.js';
import { answers, endByConnection, type ServerFolder, startServer, stopServer } from './serverProcess.js';

/**
 * An owner in another pid namespace is invisible from here. It is alive if and only if its server answers, because a container
 * dies as a whole. Limit: if the folder's path is too long for a socket, a server in another network namespace cannot be
 * reached, so two containers must not share such a folder.
 */
export async function ownerLives(
  owner: ProcessIdentity,
  { folder, here, clock, stopping }: ServerFolder,
): Promise<boolean> {
  const alive = isProcessAlive(owner, here);
  if (alive !== null) return alive;
  const endpoint = readEndpoint(folder);
  return endpoint !== null && endpoint !== 'corrupt' && answers(endpoint.url, clock, stopping);
}

/** @returns the server that a dead bridge left, now owned by this process; null if none answers any more */
export async function adopt(ours: ServerFolder, notices: string[]): Promise<Endpoint | null> {
  const { folder, here, clock, stopping } = ours;
  const found = readEndpoint(folder);
  if (found === null || found === 'corrupt') {
    await endUnknownServer(ours);
    if (found === 'corrupt') notices.push(`${endpointPath(folder)} could not be read and was replaced`);
    return null;
  }
  const alive = isProcessAlive(found.server, here);
  if (alive === false) return null;
  if (await answers(found.url, clock, stopping)) {
    const adopted = { ...found, owner: here };
    writeEndpoint(folder, adopted);
    return adopted;
  }
  // It hangs, and two servers on one data folder would corrupt the data.
  if (alive === true) await stopServer(found, ours, stopping);
  return null;
}

/** A second server on the same data would corrupt it. @throws UsageError if an unknown one does not end, or is not reached */
async function endUnknownServer({ folder, clock, stopping }: ServerFolder): Promise<void> {
  const url = socketUrl(folder);
  if (url === null) return refuseIfRunning(folder);
  if (await endByConnection(url, clock, stopping)) return;
  throw new UsageError(`a Redis without a record answers at ${url}; end it, and start again`);
}

function refuseIfRunning(folder: string): void {
  const pid = readPid(folder);
  if (pid === null || readProcessIdentity('', pid).pid_start === '') return;
  throw new UsageError(
    `process ${pid} may still be the Redis of ${folder}, whose record is missing or damaged; end it (or, if it is something else, delete ${pidPath(folder)}), and start again`,
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

export async function startFirst(path: string, ours: ServerFolder): Promise<Endpoint> {
  const program = await findServerProgram(path);
  const place = await choosePlace(ours.folder);
  const kind = program?.kind ?? 'js-redis-server';
  const about = { v: 1, url: place.url, kind, persistent: program !== null, owner: ours.here } as const;
  return startServer({ ...ours, program, place, about });
}

/** Uses the same address, so that all clients reconnect by themselves, and never a program that cannot read the data. */
export async function startSuccessor(path: string, ours: ServerFolder, former: Endpoint): Promise<Endpoint> {
  const program = former.persistent ? await findServerProgram(path) : null;
  if (former.persistent && program === null) throw new UnreachableError(`${former.kind} is not on PATH any more`);
  const about = { ...former, kind: program?.kind ?? former.kind };
  return startServer({ ...ours, program, place: placeOf(former.url), about });
}
