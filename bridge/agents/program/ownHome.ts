/**
 * The home folder of an agent in a sandbox: a folder that the agents of its project have for themselves and that is kept from
 * run to run, with logins, conversations and caches. It takes the place of the operator's home, at the same path.
 *
 * Agents write this folder, also while another run of the project begins, and may leave links in it at any time. So what they are
 * to see of the operator's home is put into it by a second sandbox inside the first. There a link leads to what agents see anyway.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { homeOfUser } from '../../../src/host/homeOfUser.js';
import type { AgentSurroundings } from './contract.js';
import { argumentsOf, isWithin, type Mount, outerFirst, realOf } from './mounts.js';

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
