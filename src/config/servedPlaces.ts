/** In which directory a host works for which place: what a bridge tells the other hosts of itself. */
import type { Settings } from './settings.js';

/** A project's chat or topic; `chat_id` null: everything else of the project. */
export interface ServedPlace {
  readonly project_key: string;
  readonly chat_id: string | null;
  readonly thread_id: string | null;
  /** Real path. */
  readonly directory: string;
}

/** @returns the hosts that are named in the configuration */
export function homesOf({ projects }: Pick<Settings, 'projects'>): string[] {
  return [...projects.values()].flatMap(({ host }) => (host === null ? [] : [host]));
}

/** @returns the places for which this host has directories */
export function servedPlaces({ projects }: Pick<Settings, 'projects'>): ServedPlace[] {
  const served = [...projects.values()].filter(({ isServedHere }) => isServedHere);
  return served.flatMap(({ key, directory, places }) => [
    ...places.map((place) => ({
      project_key: key,
      chat_id: place.chatId,
      thread_id: place.threadId,
      directory: place.directory,
    })),
    { project_key: key, chat_id: null, thread_id: null, directory },
  ]);
}

/** @returns where the host works for it: the topic's directory, else the chat's, else the project's; null where it does not */
export function directoryFor(
  places: readonly ServedPlace[],
  projectKey: string,
  chatId: string,
  threadId: string | null,
): string | null {
  const of = places.filter(({ project_key }) => project_key === projectKey);
  const found =
    of.find(({ chat_id, thread_id }) => chat_id === chatId && thread_id === threadId) ??
    of.find(({ chat_id, thread_id }) => chat_id === chatId && thread_id === null) ??
    of.find(({ chat_id }) => chat_id === null);
  return found?.directory ?? null;
}
