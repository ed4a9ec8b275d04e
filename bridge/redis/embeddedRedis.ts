/**
 * The bridge's own Redis, where REDIS_URL is absent. There is at most one per logs folder, and one living bridge owns it.
 * When the bridge is killed its server goes on; the next bridge adopts it, or starts another one on the same data.
 */
import { isProcessAlive, readProcessIdentity } from '../../src/host/identity.js';
import type { ProcessIdentity } from '../../src/model.js';
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
import { findServerProgram } from './programs.js';
import { answers, startServer, stopServer } from './serverProcess.js';
import { endUnknownServer } from './unknownServer.js';

const IN_MEMORY =
  'NO redis-server OR valkey-server IS ON PATH: the JavaScript server stands in. It KEEPS NOTHING when it ends and is slow; it is for trying out only. Install Redis 6.2 or newer, or set REDIS_URL';

export interface EmbeddedRedisOptions {
  readonly logsFolder: string;
  /** Where to look for programs, as in the variable PATH. */
  readonly path: string;
  /** `WATCHKEEPER_HOST`, else the host's name. */
  readonly host: string;
  readonly clock: Clock;
}

export interface EmbeddedRedis {
  /** May hold a password. */
  readonly url: string;
  readonly kind: ServerKind;
  /** Whether the data outlives the server. */
  readonly persistent: boolean;
  /** What the operator should read, as a warning; null where all is as usual. */
  readonly notice: string | null;
  /** Ends the server in an orderly way; resolves when it is gone. Idempotent. */
  stop(): Promise<void>;
}

/**
 * @returns a Redis that answers: the one that a dead bridge left, else a new one on the former data
 * @throws UsageError where a living bridge owns the folder, or the programs found are too old
 * @throws UnreachableError where the server does not come up
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const { clock } = options;
  const folder = prepareFolder(options.logsFolder);
  const here = readProcessIdentity(options.host);
  const claim = await claimFolder(folder, here, (owner) => ownerLives(owner, folder, here, clock), clock);
  try {
    const notices: string[] = [];
    const adopted = await adopt(folder, here, clock, notices);
    const endpoint = adopted ?? (await startNew(options, folder, here));
    if (!endpoint.persistent) notices.push(IN_MEMORY);
    let stopped: Promise<void> | null = null;
    const stop = async () => {
      await stopServer(folder, endpoint, here, clock);
      removeEndpoint(folder);
      claim.release();
    };
    return {
      url: endpoint.url,
      kind: endpoint.kind,
      persistent: endpoint.persistent,
      notice: notices.length === 0 ? null : notices.join('. '),
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
 * An owner in another pid namespace cannot be seen from here. It lives exactly if its server answers, because a container
 * dies as a whole. Limit: where the folder's path is too long for a socket, a server in another network namespace is not
 * heard, and two containers must not share such a folder.
 */
async function ownerLives(
  owner: ProcessIdentity,
  folder: string,
  here: ProcessIdentity,
  clock: Clock,
): Promise<boolean> {
  const alive = isProcessAlive(owner, here);
  if (alive !== null) return alive;
  const endpoint = readEndpoint(folder);
  return endpoint !== null && endpoint !== 'corrupt' && answers(endpoint.url, clock);
}

/** @returns the server that a dead bridge left, now owned by this process; null where none answers any more */
async function adopt(folder: string, here: ProcessIdentity, clock: Clock, notices: string[]): Promise<Endpoint | null> {
  const found = readEndpoint(folder);
  if (found === null || found === 'corrupt') {
    await endUnknownServer(folder, clock);
    if (found === 'corrupt') notices.push(`${endpointPath(folder)} could not be read and was written anew`);
    return null;
  }
  const alive = isProcessAlive(found.server, here);
  if (alive === false) return null;
  if (await answers(found.url, clock)) {
    const adopted = { ...found, owner: here };
    writeEndpoint(folder, adopted);
    return adopted;
  }
  // It hangs, and two servers on one data folder would ruin the data.
  if (alive === true) await stopServer(folder, found, here, clock);
  return null;
}

async function startNew(options: EmbeddedRedisOptions, folder: string, here: ProcessIdentity): Promise<Endpoint> {
  const program = await findServerProgram(options.path);
  const kind = program?.kind ?? 'js-redis-server';
  const endpointOf = (started: { url: string; server: ProcessIdentity }): Endpoint => ({
    v: 1,
    url: started.url,
    kind,
    persistent: program !== null,
    server: started.server,
    owner: here,
  });
  const started = await startServer(folder, program, here, options.clock, (spawned) =>
    writeEndpoint(folder, endpointOf(spawned)),
  );
  return endpointOf(started);
}
