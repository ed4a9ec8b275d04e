/** A real Redis that belongs to one scene, so that nothing of another one can reach it. */
import { accessSync, constants, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { eventually } from './eventually.js';
import { Program } from './program.js';

const PROGRAMS = ['redis-server', 'valkey-server'] as const;

export interface RedisServer {
  /** For REDIS_URL. */
  readonly url: string;
  stop(): Promise<void>;
}

/** @returns the path of a server on PATH; null where there is none */
export function findRedisServer(searchPath = process.env.PATH ?? ''): string | null {
  const candidates = PROGRAMS.flatMap((name) =>
    searchPath.split(delimiter).flatMap((folder) => (folder === '' ? [] : [join(folder, name)])),
  );
  return candidates.find(isExecutable) ?? null;
}

/**
 * @param folder must be short: the path of a socket ends at about 100 bytes
 * @param environment the server's whole environment
 */
export async function startRedisServer(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<RedisServer> {
  const program = findRedisServer();
  if (program === null) throw new Error(`neither ${PROGRAMS.join(' nor ')} is on PATH`);
  mkdirSync(folder, { recursive: true });
  const socket = join(folder, 'redis.sock');
  const settings = ['--port', '0', '--unixsocket', socket, '--dir', folder, '--save', '', '--appendonly', 'no'];
  const server = new Program(program, [...settings, '--maxmemory-policy', 'noeviction'], {
    workingDirectory: folder,
    environment,
  });
  await eventually(() => /ready to accept connections/i.test(server.stdout), {
    what: 'a Redis that is ready',
    instead: () => server.lastWords(),
  });
  return {
    url: `unix://${socket}`,
    async stop() {
      await server.stop();
    },
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
