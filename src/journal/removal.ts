/** Removes journals: only folders directly below `logs/sessions`, and follows no link, which an agent may have put there. */
import type { Stats } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { nullIfAbsent } from '../errors.js';
import { isSessionId } from '../ids.js';

/** Folders with more entries are not checked further: they count as just modified. */
const MOST_ENTRIES = 1_000;

/** @returns the ids of all sessions that have a folder, sorted; none if `logs/sessions` is itself a link */
export async function sessionsWithFolders(logsFolder: string): Promise<string[]> {
  const folder = join(logsFolder, 'sessions');
  if ((await statsOf(folder))?.isDirectory() !== true) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && isSessionId(entry.name))
    .map(({ name }) => name)
    .sort();
}

/** @returns when anything in the session's folder was last changed, epoch milliseconds; null if there is no folder */
export async function lastTouched(logsFolder: string, sessionId: string): Promise<number | null> {
  const folder = await ownFolder(logsFolder, sessionId);
  if (folder === null) return null;
  let latest = 0;
  let entries = 0;
  const look = async (path: string): Promise<void> => {
    const stats = await statsOf(path);
    entries += 1;
    latest = entries > MOST_ENTRIES ? Number.POSITIVE_INFINITY : Math.max(latest, stats?.mtimeMs ?? 0);
    if (stats?.isDirectory() !== true || latest === Number.POSITIVE_INFINITY) return;
    for (const name of await readdir(path)) await look(join(path, name));
  };
  await look(folder);
  return latest;
}

export async function removeJournal(logsFolder: string, sessionId: string): Promise<boolean> {
  const folder = await ownFolder(logsFolder, sessionId);
  if (folder === null) return false;
  await rm(folder, { recursive: true, force: true });
  return true;
}

async function ownFolder(logsFolder: string, sessionId: string): Promise<string | null> {
  if (!isSessionId(sessionId)) return null;
  const sessions = join(logsFolder, 'sessions');
  const folder = join(sessions, sessionId);
  for (const path of [sessions, folder]) if ((await statsOf(path))?.isDirectory() !== true) return null;
  return folder;
}

function statsOf(path: string): Promise<Stats | null> {
  return lstat(path).catch(nullIfAbsent);
}
