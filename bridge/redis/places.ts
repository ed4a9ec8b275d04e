/** The file names and the address of the bridge's own Redis. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, including the final zero. */
const LONGEST_SOCKET_PATH = 103;

/** A socket in the folder, which only its owner can enter; if the path is too long for a socket, a port with a password. */
export type Place =
  | { readonly url: string; readonly socket: string }
  | { readonly url: string; readonly port: number; readonly password: string };

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
