/** `npm pack` and what it makes, for tests: with a home and a cache of their own, and without a registry. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../src/errors.js';
import { packageRoot } from '../../src/host/program.js';
import { MINUTE } from '../../src/time.js';
import { eventually } from '../e2e/eventually.js';

const QUICK_PRESS = join(packageRoot(), 'test/package/quickPress.cjs');

export interface Packed {
  readonly tarball: string;
  /** Of the whole file. */
  readonly integrity: string;
  /** Paths in the package. */
  readonly files: readonly string[];
}

interface Listed {
  readonly filename: string;
  readonly integrity: string;
  readonly files: readonly { readonly path: string }[];
}

/** The environment of npm, which writes nothing outside of a folder. */
export function npmEnvironment(folder: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: join(folder, 'home-of-npm'),
    npm_config_cache: join(folder, 'cache-of-npm'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    npm_config_loglevel: 'error',
  };
}

/**
 * @param root the folder of a package
 * @param into an empty folder
 * @throws Error with what npm said if it fails
 */
export function pack(root: string, into: string, ...options: readonly string[]): Packed {
  mkdirSync(into, { recursive: true });
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--json', '--pack-destination', into, ...options], {
    cwd: root,
    env: { ...npmEnvironment(into), NODE_OPTIONS: `--require ${QUICK_PRESS}` },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm pack failed with ${status}:\n${stdout}${stderr}`);
  // What the build says comes first.
  const listed: unknown = JSON.parse(stdout.slice(stdout.search(/^[[{]/m)));
  const [{ filename, integrity, files }] = Object.values(listed as object) as [Listed];
  return { tarball: join(into, filename), integrity, files: files.map(({ path }) => path).sort() };
}

/** @returns the package of this checkout, which the first test file that asks makes for all files of a run */
export async function packCheckout(): Promise<Packed> {
  const run = process.env.WATCHKEEPER_TEST_RUN_FOLDER;
  if (run === undefined) throw new Error('a package for all test files needs test/harness/globalSetup.mjs');
  const [folder, record] = [join(run, 'package'), join(run, 'packed.json')];
  if (isFirst(folder)) {
    writeFileSync(`${record}.part`, JSON.stringify(pack(packageRoot(), folder, '--ignore-scripts')));
    renameSync(`${record}.part`, record);
  }
  const what = 'the package that another test file makes';
  await eventually(() => existsSync(record), { what, withinMs: MINUTE });
  return JSON.parse(readFileSync(record, 'utf8'));
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Unpacks it into a folder, which is then the folder of the package. */
export function unpack({ tarball }: Packed, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const { status, stderr } = spawnSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
  if (status !== 0) throw new Error(`tar failed: ${stderr}`);
  return folder;
}
