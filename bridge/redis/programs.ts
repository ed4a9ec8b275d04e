/** Finds the Redis server that is installed on this machine. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { UsageError } from '../../src/errors.js';
import { isSupportedVersion } from '../../src/redis/connect.js';
import { SECOND } from '../../src/time.js';
import { findProgram } from '../agents/program/findProgram.js';
import type { ServerKind } from './endpoint.js';

const NAMES = ['redis-server', 'valkey-server'] as const;
const VERSION_LIMIT_MS = 10 * SECOND;
const run = promisify(execFile);

export interface ServerProgram {
  readonly kind: Exclude<ServerKind, 'js-redis-server'>;
  readonly path: string;
  /** The first part of its version. */
  readonly major: number;
}

/** @returns null if there is none at all @throws UsageError if every program found is too old or does not run */
export async function findServerProgram(searchPath: string): Promise<ServerProgram | null> {
  const faults: string[] = [];
  for (const kind of NAMES) {
    const found = findProgram(kind, searchPath, '/');
    if (found.kind !== 'found') continue;
    const version = await versionOf(found.path);
    if (version !== null && isSupportedVersion(version)) {
      return { kind, path: found.path, major: Number.parseInt(version, 10) };
    }
    faults.push(`${found.path} ${version === null ? 'does not report its version' : `is version ${version}`}`);
  }
  if (faults.length === 0) return null;
  throw new UsageError(
    `${faults.join('; ')}; install version 6.2 or newer, or set REDIS_URL to a Redis that is already running`,
  );
}

async function versionOf(path: string): Promise<string | null> {
  const said = await run(path, ['--version'], { timeout: VERSION_LIMIT_MS }).catch(() => null);
  return /\bv=(\d+\.\d+\S*)/.exec(said?.stdout ?? '')?.[1] ?? null;
}
