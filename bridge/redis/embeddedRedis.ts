/**
 * The bridge's own Redis, used when REDIS_URL is not set. Each logs folder has at most one, owned by one living bridge. It
 * survives a killed bridge; the next bridge adopts it, or starts another on the same data. If the server is killed or hangs,
 * its bridge starts another one (serverKeeper.ts).
 */
import { UnreachableError } from '../../src/errors.js';
import { isProcessAlive, type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import type { Clock } from '../../src/time.js';
import { claimFolder } from './claim.js';
import {
  type Endpoint,
  endpointPath,
  prepareFolder,
  readEndpoint,
  removeEndpoint,
  type ServerKind,
  writeEndpoint,
} from './endpoint.js';
import { choosePlace, placeOf } from './places.js';
import { findServerProgram } from './programs.js';
import { ServerKeeper } from './serverKeeper.js';
import {
  answers,
  refuseWhenStopping,
  type ServerFolder,
  type ServerStart,
  startServer,
  stopServer,
} from './serverProcess.js';
import { endUnknownServer } from './unknownServer.js';

const IN_MEMORY =
  'NO redis-server OR valkey-server IS ON PATH: the JavaScript server stands in. It KEEPS NOTHING when it ends and is slow; it is for trying out only. Install Redis 6.2 or newer, or set REDIS_URL';

export interface EmbeddedRedisOptions {
  readonly logsFolder: string;
  /** The search path for programs, in the format of PATH. */
  readonly path: string;
  /** `WATCHKEEPER_HOST`, else the host's name. */
  readonly host: string;
  readonly clock: Clock;
  /** Ends the start at once. */
  readonly stopping: AbortSignal;
  /** A server that does not answer for this long is killed and restarted; milliseconds. */
  readonly hungMs: number;
  /** Called with a sentence when the server had to be restarted. */
  readonly notify: (sentence: string) => void;
}

export interface EmbeddedRedis {
  /** May hold a password. */
  readonly url: string;
  readonly kind: ServerKind;
  /** Whether the data outlives the server. */
  readonly persistent: boolean;
  /** A warning for the operator; null if there is nothing to report. */
  readonly notice: string | null;
  /** Aborted, with an UnreachableError as its reason, when the server keeps ending and is not restarted any more. */
  readonly lost: AbortSignal;
  /** Shuts the server down in order; resolves when it is gone. Idempotent. */
  stop(): Promise<void>;
}

/**
 * @returns a Redis that answers: the one that a dead bridge left, or a new one on the same data
 * @throws UsageError if a living bridge owns the folder, or the installed programs are too old
 * @throws UnreachableError if the server does not come up, or `stopping` aborts first
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const { clock, stopping, hungMs, notify } = options;
  const folder = prepareFolder(options.logsFolder);
  const here = readProcessIdentity(options.host);
  const ours: ServerFolder = { folder, here, clock, stopping };
  const claim = await claimFolder({ ...ours, lives: (owner) => ownerLives(owner, ours) });
  try {
    const notices: string[] = [];
    const adopted = await adopt(ours, notices);
    refuseWhenStopping(stopping);
    const endpoint = adopted ?? (await startFirst(options.path, ours));
    if (!endpoint.persistent) notices.push(IN_MEMORY);
    const startAgain = (former: Endpoint, ending: AbortSignal) =>
      startSuccessor(options.path, { ...ours, stopping: ending }, former);
    const keeper = new ServerKeeper({ folder, here, clock, endpoint, hungMs, notify, startAgain });
    keeper.start();
    let stopped: Promise<void> | null = null;
    const stop = async () => {
      await keeper.stop();
      await stopServer(keeper.endpoint, ours);
      removeEndpoint(folder);
      claim.release();
    };
    return {
      url: endpoint.url,
      kind: endpoint.kind,
      persistent: endpoint.persistent,
      notice: notices.length === 0 ? null : notices.join('. '),
      lost: keeper.lost,
      stop() {
        stopped ??= stop();
        return stopped;
      },
    };
  } catch (error) {
    claim.release();
    throw error;
  }
}

/**
 * An owner in another pid namespace is invisible from here. It is alive if and only if its server answers, because a container
 * dies as a whole. Limit: if the folder's path is too long for a socket, a server in another network namespace cannot be
 * reached, so two containers must not share such a folder.
 */
async function ownerLives(owner: ProcessIdentity, { folder, here, clock, stopping }: ServerFolder): Promise<boolean> {
  const alive = isProcessAlive(owner, here);
  if (alive !== null) return alive;
  const endpoint = readEndpoint(folder);
  return endpoint !== null && endpoint !== 'corrupt' && answers(endpoint.url, clock, stopping);
}

/** @returns the server that a dead bridge left, now owned by this process; null if none answers any more */
async function adopt(ours: ServerFolder, notices: string[]): Promise<Endpoint | null> {
  const { folder, here, clock, stopping } = ours;
  const found = readEndpoint(folder);
  if (found === null || found === 'corrupt') {
    await endUnknownServer(folder, clock, stopping);
    if (found === 'corrupt') notices.push(`${endpointPath(folder)} could not be read and was written anew`);
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

/** @param path the search path for programs */
async function startFirst(path: string, ours: ServerFolder): Promise<Endpoint> {
  const program = await findServerProgram(path);
  const place = await choosePlace(ours.folder);
  const kind = program?.kind ?? 'js-redis-server';
  const about = { v: 1, url: place.url, kind, persistent: program !== null, owner: ours.here } as const;
  return startAt({ ...ours, program, place }, about);
}

/** Uses the same address, so that all clients reconnect by themselves, and never a program that cannot read the data. */
async function startSuccessor(path: string, ours: ServerFolder, former: Endpoint): Promise<Endpoint> {
  const program = former.persistent ? await findServerProgram(path) : null;
  if (former.persistent && program === null) throw new UnreachableError(`${former.kind} is not on PATH any more`);
  const about = { ...former, kind: program?.kind ?? former.kind };
  return startAt({ ...ours, program, place: placeOf(former.url) }, about);
}

async function startAt(start: Omit<ServerStart, 'onSpawned'>, about: Omit<Endpoint, 'server'>): Promise<Endpoint> {
  const onSpawned = (server: ProcessIdentity) => writeEndpoint(start.folder, { ...about, server });
  const server = await startServer({ ...start, onSpawned });
  return { ...about, server };
}
