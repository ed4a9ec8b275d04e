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

/**
 * @returns where the agent's home is in the sandbox: the real path of the home that its environment names; another one if that
 *   does not exist, or is a folder of the system, such as `/`, which the user that the agent runs as does not own
 */
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

/**
 * @param own the folder that becomes the home
 * @returns arguments of the first sandbox: an empty home, for the shown parts of the operator's, and the own one next to it
 */
export function emptyHome(own: string, home: string): string[] {
  return ['--tmpfs', home, '--bind', realOf(own) ?? own, OWN];
}

/** Runs in the first sandbox. A link that an agent left in the way would keep its project from working for good. */
const CLEAR = `chmod u+rwx ${OWN}
while [ "$1" != -- ]; do if [ -L "$1" ]; then rm -f -- "$1"; fi; shift; done
shift
exec "$@"`;

/**
 * @param shown what the first sandbox has mounted
 * @returns the beginning of a line in the first sandbox: a second one, which sees what the first one does and puts the own home
 *   in its place
 */
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

/**
 * @param path absolute
 * @returns the path and the target of its link; for a program of npm the outermost folder of packages, and for one of a virtual
 *   environment of Python that environment, because these have all that it imports
 */
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

/**
 * @param searchPath in the format of PATH
 * @param isHidden whether a folder is not visible in the sandbox by itself; only such are read
 * @returns the folders of the search path with the programs that they link to, at most 200 paths
 */
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
