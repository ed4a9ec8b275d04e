/**
 * The home folder of an agent in a sandbox: a folder that the agents of its project have for themselves and that is kept from
 * run to run, with logins, conversations and caches. It takes the place of the operator's home, at the same path.
 *
 * Into it the sandbox mounts what the agent may see of the operator's home. The folder is written by agents, so every mount point
 * is prepared without following a link that an agent may have left there. Agents that run at that time cannot put one there,
 * because the folders above a mount point are mounts of their own in each sandbox of the project.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, renameSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { argumentsOf, foldersBetween, isWithin, type Mount, outerFirst, realOf } from './mounts.js';

/** For a user whose home does not exist; `/run` is empty in every sandbox. */
export const HOME_OF_THE_HOMELESS = '/run/home';
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** @returns where the agent's home is in the sandbox: the real path of the home that its environment names */
export function homeInside({ HOME }: Readonly<Record<string, string>>): string {
  const home = HOME ?? homedir();
  const real = isAbsolute(home) ? realOf(home) : null;
  return real === null || real === '/' ? HOME_OF_THE_HOMELESS : real;
}

/**
 * @param own the folder that becomes the home; null: the home of the user that the agent runs as stays as it is
 * @param home its path in the sandbox
 * @param shown what the sandbox mounts afterwards, in the home and elsewhere
 * @throws Error of the file system, if the folder cannot be prepared
 */
export function homeMounts(own: string | null, home: string, shown: readonly Mount[]): string[] {
  if (own === null) return existsSync(home) ? ['--bind', home, home] : [];
  mkdirSync(own, { recursive: true, mode: PRIVATE_FOLDER });
  const folder = realOf(own) ?? own;
  const points = shown.filter(({ path }) => path !== home && isWithin(home, path));
  const outermost = points.filter(
    ({ path }) => !points.some((other) => other.path !== path && isWithin(other.path, path)),
  );
  const above = outerFirst(outermost.flatMap(({ path }) => foldersBetween(home, path)));
  const inFolder = (path: string) => join(folder, relative(home, path));
  for (const path of above) prepare(inFolder(path), true);
  for (const { source, path } of outermost) prepare(inFolder(path), statSync(source).isDirectory());
  const pins = above.map((path): Mount => ({ how: '--bind', source: inFolder(path), path }));
  return argumentsOf([{ how: '--bind', source: folder, path: home }, ...pins]);
}

/** Moves aside what is in the way, such as a link: it is the agent's, and may be dear to it. */
function prepare(path: string, asFolder: boolean): void {
  const present = lstatSync(path, { throwIfNoEntry: false });
  if (present !== undefined && fits(present, asFolder)) return;
  if (present !== undefined) renameSync(path, `${path}.moved-${randomBytes(4).toString('hex')}`);
  if (asFolder) mkdirSync(path, { mode: PRIVATE_FOLDER });
  else writeFileSync(path, '', { flag: 'wx', mode: PRIVATE_FILE });
}

function fits(present: Stats, asFolder: boolean): boolean {
  return asFolder ? present.isDirectory() : present.isFile();
}
