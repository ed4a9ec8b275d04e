/** Turns the project file's entries into {@link Project}s whose directories do not overlap. */

import { realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { definedOnly } from './definedOnly.js';
import { isDirectory } from './directories.js';
import type { Faults } from './faults.js';
import type { ProjectEntry, ProjectFile } from './projectFile.js';
import { DEFAULT_THRESHOLDS, type Rule, type RuleAction, type Thresholds } from './rules.js';
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

type PartialThresholds = { readonly [Name in keyof Thresholds]?: number | undefined };

export interface ProjectsContext {
  readonly baseFolder: string;
  readonly faults: Faults;
  /** Thresholds set by the environment; a project's own take precedence. */
  readonly fromEnvironment: PartialThresholds;
  /** The name of this host: only another host's project may have its directory elsewhere. */
  readonly here: string;
}

/** @returns the projects by their keys; what is wrong with them goes to `faults` */
export async function readProjects(
  file: ProjectFile,
  { baseFolder, faults, fromEnvironment, here }: ProjectsContext,
): Promise<Map<string, Project>> {
  const common: Thresholds = {
    ...DEFAULT_THRESHOLDS,
    ...definedOnly(file.thresholds ?? {}),
    ...definedOnly(fromEnvironment),
  };
  const projects = new Map<string, Project>();
  for (const [key, entry] of Object.entries(file.projects)) {
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
      agent: readAgent(entry.agent, baseFolder),
      thresholds: { ...common, ...definedOnly(entry.thresholds ?? {}) },
      actions: { ...DEFAULT_ACTIONS, ...definedOnly(file.actions ?? {}), ...definedOnly(entry.actions ?? {}) },
    });
  }
  refuseSharedPlaces([...projects.values()], faults);
  refuseOverlaps(
    [...projects.values()].filter(({ isServedHere }) => isServedHere),
    faults,
  );
  return projects;
}

function readAgent(entry: ProjectEntry['agent'], baseFolder: string): Project['agent'] {
  const { kind, ...options } = entry;
  return { kind, options: { ...options, baseFolder } };
}

async function readPlaces(entry: ProjectEntry, projectDirectory: string, baseFolder: string): Promise<Place[]> {
  const places: Place[] = [];
  for (const chat of entry.chats) {
    places.push({
      chatId: chat.id,
      threadId: chat.topic ?? null,
      directory: chat.directory === undefined ? projectDirectory : await realDirectory(chat.directory, baseFolder),
    });
  }
  return places;
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
function refuseOverlaps(projects: readonly Project[], faults: Faults): void {
  const directories = projects.flatMap((project) =>
    [...new Set([project.directory, ...project.places.map((place) => place.directory)])].map((directory) => ({
      key: project.key,
      directory,
    })),
  );
  for (const [index, left] of directories.entries()) {
    for (const right of directories.slice(index + 1)) {
      if (left.key === right.key) continue;
      if (!contains(left.directory, right.directory) && !contains(right.directory, left.directory)) continue;
      faults.add(
        `projects.${left.key} and projects.${right.key}: the directories ${left.directory} and ${right.directory} are equal or nested; give each its own`,
      );
    }
  }
}

function contains(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}
