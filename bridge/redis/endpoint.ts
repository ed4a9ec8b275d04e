/** The files and the address of the bridge's own Redis. `{logs}/redis/endpoint.json` names its server process and its owner. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import type { Settings } from '../../src/config/settings.js';
import { describeError, errorCode, UnreachableError } from '../../src/errors.js';
import { readPlainFileSync } from '../../src/files/plainFile.js';
import { isProcessAlive, readProcessIdentity } from '../../src/host/identity.js';
import { jsonFile } from '../../src/json.js';

const LONGEST_BYTES = 64 * 1024;
/** `sun_path` holds 104 bytes on macOS and 108 on Linux, including the final zero. */
const LONGEST_SOCKET_PATH = 103;

export const PROCESS_IDENTITY = z.object({
  host: z.string(),
  boot_id: z.string(),
  pid_namespace: z.string(),
  pid: z.int().positive(),
  pid_start: z.string(),
});

const ENDPOINT = z.object({
  v: z.literal(1),
  /** May hold a password, so only the owner can read the file. */
  url: z.string().startsWith('redis:').or(z.string().startsWith('unix:')),
  kind: z.enum(['redis-server', 'valkey-server', 'js-redis-server']),
  /** Whether the data outlives the server. */
  persistent: z.boolean(),
  server: PROCESS_IDENTITY,
  owner: PROCESS_IDENTITY,
});

export type Endpoint = z.infer<typeof ENDPOINT>;
export type ServerKind = Endpoint['kind'];

/** A socket in the folder, which only its owner can enter; if the path is too long for a socket, a port with a password. */
export type Place =
  | { readonly url: string; readonly socket: string }
  | { readonly url: string; readonly port: number; readonly password: string };

/** @returns the folder for everything about the bridge's own Redis; only its owner can read it */
export function prepareFolder(logsFolder: string): string {
  const folder = resolve(logsFolder, 'redis');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  return folder;
}

/** As configured, else the server that a bridge on this logs folder has brought. @throws UnreachableError if there is neither */
export function redisUrlOf({ redisUrl, logsFolder }: Settings): string {
  return redisUrl ?? findEmbeddedRedis(logsFolder).url;
}

/** @returns the Redis of the bridge on this logs folder @throws UnreachableError if there is none, or it has ended */
export function findEmbeddedRedis(logsFolder: string): Endpoint {
  const folder = resolve(logsFolder, 'redis');
  const found = readEndpoint(folder);
  if (found === null) {
    throw new UnreachableError(
      `no bridge runs in this folder (there is no ${endpointPath(folder)}), and REDIS_URL is not set; start \`watchkeeper bridge\`, run this in its folder, or set REDIS_URL`,
    );
  }
  if (found === 'corrupt') {
    throw new UnreachableError(
      `the address of the bridge's Redis is lost: ${endpointPath(folder)} cannot be read; start \`watchkeeper bridge\`, which replaces it`,
    );
  }
  const here = readProcessIdentity(found.server.host);
  if (isProcessAlive(found.server, here) === false) {
    if (isProcessAlive(found.owner, here) === true) {
      throw new UnreachableError(
        `the Redis of ${logsFolder} (process ${found.server.pid}) has just ended, and its bridge (process ${found.owner.pid}) is restarting it; try again in a few seconds`,
      );
    }
    throw new UnreachableError(
      `the Redis of ${logsFolder} (process ${found.server.pid}) is no longer running; start \`watchkeeper bridge\`, or set REDIS_URL`,
    );
  }
  return found;
}

/** @returns the file's content; null if there is no file */
export function readEndpoint(folder: string): Endpoint | 'corrupt' | null {
  let text: string;
  try {
    text = readPlainFileSync(endpointPath(folder), LONGEST_BYTES);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw new UnreachableError(`${endpointPath(folder)} cannot be read: ${describeError(error)}`);
  }
  try {
    return ENDPOINT.parse(JSON.parse(text));
  } catch {
    return 'corrupt';
  }
}

/** A reader sees the old file or the new one, never a part. */
export function writeEndpoint(folder: string, endpoint: Endpoint): void {
  writeWhole(endpointPath(folder), endpoint);
}

export function removeEndpoint(folder: string): void {
  rmSync(endpointPath(folder), { force: true });
}

export function endpointPath(folder: string): string {
  return join(folder, 'endpoint.json');
}

/** Writes JSON by temp file and rename, readable by the owner only. */
export function writeWhole(path: string, content: unknown): void {
  const temporary = `${path}.${process.pid}.new`;
  writeFileSync(temporary, jsonFile(content), { mode: 0o600 });
  renameSync(temporary, path);
}

export function logPath(folder: string): string {
  return join(folder, 'server.log');
}

export function pidPath(folder: string): string {
  return join(folder, 'server.pid');
}

export function socketPath(folder: string): string {
  return join(folder, 'redis.sock');
}

/** @returns the socket URL of this folder's server; null if the path is too long for a socket */
export function socketUrl(folder: string): string | null {
  const path = socketPath(folder);
  return Buffer.byteLength(path) > LONGEST_SOCKET_PATH ? null : `unix://${pathToFileURL(path).pathname}`;
}

/** @returns an address for a new server */
export async function choosePlace(folder: string): Promise<Place> {
  const url = socketUrl(folder);
  if (url !== null) return { url, socket: socketPath(folder) };
  const port = await freePort();
  const password = randomBytes(24).toString('hex');
  return { url: `redis://:${password}@127.0.0.1:${port}`, port, password };
}

/** @returns the address of the server that listened at this URL, for its successor, so that clients reconnect by themselves */
export function placeOf(url: string): Place {
  const { protocol, pathname, password, port } = new URL(url);
  if (protocol === 'unix:') return { url, socket: decodeURIComponent(pathname) };
  return { url, port: Number(port), password };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  return address.port;
}
