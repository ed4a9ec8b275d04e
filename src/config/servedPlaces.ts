/** The directories where a host works for each place, announced to the other hosts. One may not be there for a while. */
import { stat } from 'node:fs/promises';
import { GENERAL_TOPIC, type Project, type Settings } from './settings.js';

/** A project's chat or topic; a null `chat_id` means everything else of the project. */
export interface ServedPlace {
  readonly project_key: string;
  readonly chat_id: string | null;
  readonly thread_id: string | null;
  /** Real path. */
  readonly directory: string;
}

export function servedProjects(projects: Settings['projects']): Project[] {
  return [...projects.values()].filter(({ isServedHere }) => isServedHere);
}

export function homesOf({ projects }: Settings): string[] {
  return [...projects.values()].flatMap(({ host }) => (host === null ? [] : [host]));
}

export function servedPlaces({ projects }: Settings): ServedPlace[] {
  return servedProjects(projects).flatMap(({ key, directory, places }) => [
    ...places.map((place) => ({
      project_key: key,
      chat_id: place.chatId,
      thread_id: place.threadId,
      directory: place.directory,
    })),
    { project_key: key, chat_id: null, thread_id: null, directory },
  ]);
}

export interface ProjectDirectory {
  readonly projectKey: string;
  /** Absolute. */
  readonly path: string;
}

/** @returns every directory that agents may work in on this host, each once per project */
export function servedDirectories(projects: ReadonlyMap<string, Project>): ProjectDirectory[] {
  return servedProjects(projects).flatMap(({ key: projectKey, directory, places }) =>
    [...new Set([directory, ...places.map((place) => place.directory)])].map((path) => ({ projectKey, path })),
  );
}

/** @returns false also if it cannot be checked */
export async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** @returns the host's directory for a place: the topic's, else the chat's, else the project's; null if it has none */
export function directoryFor(
  places: readonly ServedPlace[],
  projectKey: string,
  chatId: string,
  threadId: string | null,
): string | null {
  const of = places.filter(({ project_key }) => project_key === projectKey);
  const ofTopic = threadId ?? GENERAL_TOPIC;
  const found =
    of.find(({ chat_id, thread_id }) => chat_id === chatId && thread_id === ofTopic) ??
    of.find(({ chat_id, thread_id }) => chat_id === chatId && thread_id === null) ??
    of.find(({ chat_id }) => chat_id === null);
  return found?.directory ?? null;
}
