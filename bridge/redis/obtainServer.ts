/** The server of a logs folder, which is claimed before: the one that a dead bridge left, or a new one on the same data. */
import { readFileSync } from 'node:fs';
import { nullIfAbsent, UnreachableError, UsageError } from '../../src/errors.js';
import { isProcessAlive, isVisible, type ProcessIdentity } from '../../src/host/identity.js';
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
 * @throws UnreachableError if that is unknown only because the kernel, or this process, could not ask
 */
export async function ownerLives(
  owner: ProcessIdentity,
  { folder, here, clock, stopping }: ServerFolder,
): Promise<boolean> {
  const alive = isProcessAlive(owner, here);
  if (alive !== null) return alive;
  if (isVisible(owner, here)) throw unseen(owner, `own ${folder}`, 'delete its claim there');
  const endpoint = readEndpoint(folder);
  if (endpoint === null || endpoint === 'corrupt') return false;
  const isAnswering = await answers(endpoint.url, clock, stopping);
  if (isAnswering === null) throw unseen(owner, `own ${folder}`, 'delete its claim there');
  return isAnswering;
}

function unseen({ pid, host }: ProcessIdentity, what: string, remedy: string): UnreachableError {
  return new UnreachableError(
    `process ${pid} on ${host} may still ${what}: whether it lives could not be asked now; start again in a moment (or, if it is something else, ${remedy})`,
  );
}

/**
 * @returns the server that a dead bridge left, now owned by this process; null if none answers any more
 * @throws UnreachableError if that could not be asked: a second server on the same data would corrupt it
 */
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
  const isAnswering = await answers(found.url, clock, stopping);
  if (isAnswering === true) {
    const adopted = { ...found, owner: here };
    writeEndpoint(folder, adopted);
    return adopted;
  }
  if (isAnswering === null || (alive === null && isVisible(found.server, here)))
    throw unseen(found.server, `be the Redis of ${folder}`, `delete ${endpointPath(folder)}`);
  // It hangs, and two servers on one data folder would corrupt the data.
  if (alive === true) await stopServer(found, ours, stopping);
  return null;
}

/** A second server on the same data would corrupt it. @throws UsageError if an unknown one does not end, or is not reached */
async function endUnknownServer({ folder, here, clock, stopping }: ServerFolder): Promise<void> {
  const url = socketUrl(folder);
  if (url === null) return refuseIfRunning(folder, here);
  if (await endByConnection(url, clock, stopping)) return;
  throw new UsageError(`a Redis without a record answers at ${url}; end it, and start again`);
}

function refuseIfRunning(folder: string, here: ProcessIdentity): void {
  const pid = readPid(folder);
  // No answer is no proof of its end.
  if (pid === null || isProcessAlive({ ...here, pid, pid_start: '' }, here) === false) return;
  throw new UsageError(
    `process ${pid} may still be the Redis of ${folder}, whose record is missing or damaged; end it (or, if it is something else, delete ${pidPath(folder)}), and start again`,
  );
}

/** @throws the file system's error if the file is there, and cannot be read */
function readPid(folder: string): number | null {
  try {
    const pid = Number(readFileSync(pidPath(folder), 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch (error) {
    return nullIfAbsent(error);
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
