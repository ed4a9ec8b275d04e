/**
 * The home folder of an agent in a sandbox: a folder that the agents of its project have for themselves and that is kept from
 * run to run, with logins, conversations and caches. It takes the place of the operator's home, at the same path.
 *
 * Agents write this folder, also while another run of the project begins, and may leave links in it at any time. So what they are
 * to see of the operator's home is put into it by a second sandbox inside the first. There a link leads to what agents see anyway.
 */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path';
import { homeOfUser } from '../../../src/host/homeOfUser.js';
import type { AgentSurroundings } from './contract.js';
import { argumentsOf, isWithin, type Mount, outerFirst, outermost, realOf } from './mounts.js';

/** `/run` is empty in every sandbox. */
const HOMELESS = '/run/home';
const OWN = '/run/watchkeeper-home';
const PRIVATE_FOLDER = 0o700;

/** @returns the real path of the home that the environment names; another one if that is missing, or a folder of the system */
export function homeInside({ environment, user }: AgentSurroundings): string {
  const home = environment.HOME ?? homeOfUser() ?? '/';
  const real = isAbsolute(home) ? realOf(home) : null;
  return real === null || statSync(real).uid !== (user?.uid ?? process.getuid?.()) ? HOMELESS : real;
}

/** @throws Error with a sentence for the operator */
export function makeOwnHome(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  } catch (error) {
    throw new Error(`the home of its sandbox, ${folder}, cannot be made`, { cause: error });
  }
}

/** @returns arguments of the first sandbox: an empty home, for the shown parts of the operator's, and the own one next to it */
export function emptyHome(own: string, home: string): string[] {
  return ['--tmpfs', home, '--bind', realOf(own) ?? own, OWN];
}

/** Runs in the first sandbox. A link that an agent left in the way would keep its project from working for good. */
const CLEAR = `chmod u+rwx ${OWN}
while [ "$1" != -- ]; do if [ -L "$1" ]; then rm -f -- "$1"; fi; shift; done
shift
exec "$@"`;

/** @returns a second sandbox within the first, which sees the same and puts the own home in the place of the other */
export function intoOwnHome(bwrap: string, home: string, shown: readonly Mount[]): string[] {
  const inHome = shown.filter(({ path }) => path !== home && isWithin(home, path));
  const again = inHome.map(({ how, path }): Mount => ({ how, source: path, path }));
  const points = outerFirst(inHome.flatMap(({ path }) => [...foldersBetween(home, path), path]));
  return [
    ...['/bin/sh', '-c', CLEAR, 'sh', ...points.map((path) => join(OWN, relative(home, path))), '--'],
    ...[bwrap, '--bind', '/', '/', '--dev-bind', '/dev', '/dev', '--bind', OWN, home],
    ...argumentsOf(again),
    ...['--die-with-parent', '--setenv', 'HOME', home],
  ];
}

function foldersBetween(root: string, path: string): string[] {
  const folders: string[] = [];
  for (let at = dirname(path); at !== root; at = dirname(at)) folders.push(at);
  return folders;
}

/** @returns the real path; null if there is none, or links of agents lead there */
type RealPath = (path: string) => string | null;

const PACKAGES = '/node_modules/';
/** A mount costs: if more links lead to a folder, the whole folder is shown. */
const MOST_OF_A_FOLDER = 8;
/** Bubblewrap takes a few thousand arguments. */
const MOST_ON_PATH = 200;

/** @returns the path and its link's target; of npm and virtual environments the folder that has all that the program imports */
export function wholeProgram(path: string, realPath: RealPath): string[] {
  const real = isAbsolute(path) ? realPath(path) : null;
  if (real === null) return [];
  const packages = real.indexOf(PACKAGES);
  if (packages !== -1) return [path, real.slice(0, packages + PACKAGES.length - 1)];
  const environment = dirname(dirname(real));
  if (!existsSync(join(environment, 'pyvenv.cfg'))) return [path, real];
  const python = realPath(join(environment, 'bin/python'));
  // A Python of its own is at PREFIX/bin.
  return [path, environment, ...(python === null ? [] : [dirname(dirname(python))])];
}

/** @param isHidden whether the sandbox hides a folder; only such are read @returns at most 200 paths, with what they link to */
export function programsOnPath(
  searchPath: string | undefined,
  isHidden: (path: string) => boolean,
  realPath: RealPath,
): string[] {
  const named = (searchPath ?? '').split(delimiter).filter(isAbsolute).filter(isHidden);
  const folders = named.filter((folder) => realPath(folder) !== null);
  const inFolders = (path: string) => folders.some((folder) => dirname(path) === folder);
  const linked = folders.flatMap(linksIn).flatMap((link) => wholeProgram(link, realPath));
  return outermost([...folders, ...joined(linked.filter((path) => !inFolders(path)))]).slice(0, MOST_ON_PATH);
}

/** @returns the paths, but in place of many files of one folder the folder */
function joined(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  const folders = [...new Set(paths)].map((path) => dirname(path));
  for (const folder of folders) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  return paths.map((path) => ((counts.get(dirname(path)) ?? 0) > MOST_OF_A_FOLDER ? dirname(path) : path));
}

function linksIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
  } catch {
    // It is not there, or may not be read.
    return [];
  }
}
