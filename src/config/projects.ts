/** Turns the project file's entries into {@link Project}s whose directories do not overlap. */

import { realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { Faults } from './faults.js';
import type { ProjectEntry, ProjectFile } from './projectFile.js';
import type { Rule, RuleAction, Thresholds } from './rules.js';
import { isDirectory, servedDirectories } from './servedPlaces.js';
import type { Place, Project } from './settings.js';

export const DEFAULT_ACTIONS: Readonly<Record<Rule, RuleAction>> = {
  crash: 'revive',
  orphan: 'revive',
  error_cascade: 'revive',
  silence: 'revive',
  runaway: 'revive',
  loop: 'report',
  backlog: 'report',
};

/** @param common `here`: another host's directory may be elsewhere; `home` takes the place of `~` @returns faults go to `faults` */
export async function readProjects(
  file: ProjectFile,
  baseFolder: string,
  { thresholds, here, home }: { readonly thresholds: Thresholds; readonly here: string; readonly home: string },
  faults: Faults,
): Promise<Map<string, Project>> {
  const projects = new Map<string, Project>();
  for (const [key, entry] of Object.entries(file.projects)) {
    const { kind, ...options } = entry.agent;
    const isElsewhere = entry.host !== undefined && entry.host !== here;
    const isServedHere = !isElsewhere || (await isDirectory(resolve(baseFolder, entry.directory)));
    const directory = await realDirectory(entry.directory, baseFolder);
    projects.set(key, {
      key,
      directory,
      places: await readPlaces(entry, directory, baseFolder),
      senders: entry.senders,
      repository: entry.repository ?? null,
      publicDetail: entry.publicDetail,
      host: entry.host ?? null,
      isServedHere,
      reviveAfterHostLoss: entry.reviveAfterHostLoss,
      isolation: entry.isolation ?? null,
      readable: entry.readable.map((path) => resolve(path.replace(/^~(?=\/)/, home))),
      agent: { kind, options: { ...options, baseFolder } },
      thresholds: { ...thresholds, ...entry.thresholds },
      actions: { ...DEFAULT_ACTIONS, ...file.actions, ...entry.actions },
    });
  }
  refuseSharedPlaces([...projects.values()], faults);
  refuseOverlaps(projects, faults);
  return projects;
}

function readPlaces(entry: ProjectEntry, projectDirectory: string, baseFolder: string): Promise<Place[]> {
  const places = entry.chats.map(async ({ id, topic, directory, trigger = entry.trigger }) => ({
    chatId: id,
    threadId: topic ?? null,
    trigger,
    directory:
      directory === undefined ? projectDirectory : await placeDirectory(directory, baseFolder, projectDirectory),
  }));
  return Promise.all(places);
}

/** Inside the project an agent may have put a link there: it is followed only to another place in the project. */
async function placeDirectory(path: string, baseFolder: string, projectDirectory: string): Promise<string> {
  const wanted = resolve(baseFolder, path);
  const real = await realDirectory(path, baseFolder);
  const isInside = contains(projectDirectory, wanted) || contains(projectDirectory, await realDirectory('..', wanted));
  return isInside && !contains(projectDirectory, real) ? wanted : real;
}

/** @returns its real path; if it is missing now, the configured path, which puts only this project out of service */
async function realDirectory(path: string, baseFolder: string): Promise<string> {
  const wanted = resolve(baseFolder, path);
  return realpath(wanted).catch(() => wanted);
}

function refuseSharedPlaces(projects: readonly Project[], faults: Faults): void {
  const owners = new Map<string, string>();
  for (const project of projects) {
    for (const place of project.places) {
      const name = place.threadId === null ? `chat ${place.chatId}` : `chat ${place.chatId}, topic ${place.threadId}`;
      const owner = owners.get(name);
      if (owner !== undefined) faults.add(`projects.${project.key}.chats: ${name} belongs to "${owner}" already`);
      else owners.set(name, project.key);
    }
  }
}

/** Two agents of different projects in one directory would undo each other's work. */
function refuseOverlaps(projects: ReadonlyMap<string, Project>, faults: Faults): void {
  const directories = servedDirectories(projects);
  for (const [index, left] of directories.entries()) {
    for (const right of directories.slice(index + 1)) {
      if (left.projectKey === right.projectKey) continue;
      if (!contains(left.path, right.path) && !contains(right.path, left.path)) continue;
      faults.add(
        `projects.${left.projectKey} and projects.${right.projectKey}: the directories ${left.path} and ${right.path} are equal or nested; give each its own`,
      );
    }
  }
}

/** @returns whether `inner` is `outer`, or lies below it; both absolute */
export function contains(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}
