/**
 * Reads the published state of a program's processes, as another program's files are read: it may be absent, torn, huge, a link or another
 * user's. Then nothing is published.
 */
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../files/entries.js';
import { requireOwn } from '../files/ownFile.js';
import { READ_NO_LINK, readPlainFileSync } from '../files/plainFile.js';
import { parseObject } from '../json.js';
import type { AgentProgram, ProgramFolders, PublishedPlace, PublishedState, Supervised } from './agentProgram.js';

/** Such a file has some hundred bytes. */
const LONGEST_FILE_BYTES = 64 * 1024;
/** A list has some kilobytes for each agent. */
const LONGEST_LIST_BYTES = 1024 * 1024;
/** Those of processes that were killed may stay for ever. */
const MOST_FILES = 500;

/** @returns the path of the file in which a program publishes the state of a process; null if it publishes none */
export function publishedFile(program: AgentProgram, folders: ProgramFolders, pid: number): string | null {
  const place = program.publishes(folders);
  return place === null ? null : join(place.folder, place.fileOf(pid));
}

/** @returns the published state of a process; null if there is none that can be read */
export function publishedBy(program: AgentProgram, folders: ProgramFolders, pid: number): PublishedState | null {
  const place = program.publishes(folders);
  return place === null ? null : stateOf(place, pid);
}

/** @returns the published states of all processes, living or not, {@link MOST_FILES} at most */
export function publishedStates(program: AgentProgram, folders: ProgramFolders): PublishedState[] {
  const place = program.publishes(folders);
  if (place === null) return [];
  const pids = namesIn(place.folder).flatMap((name) => place.pidOf(name) ?? []);
  return pids.slice(0, MOST_FILES).flatMap((pid) => stateOf(place, pid) ?? []);
}

/** @returns what a program publishes of agents that it starts again if they die; null if it publishes none */
export function publishedSupervised(program: AgentProgram, folders: ProgramFolders): Supervised | null {
  const place = program.publishes(folders);
  const fields = place === null ? null : fieldsIn(place.supervisor, LONGEST_LIST_BYTES);
  return fields === null ? null : (place?.supervisedIn(fields) ?? null);
}

function stateOf(place: PublishedPlace, pid: number): PublishedState | null {
  const fields = fieldsIn(join(place.folder, place.fileOf(pid)), LONGEST_FILE_BYTES);
  const state = fields === null ? null : place.stateIn(fields);
  return state?.pid === pid ? state : null;
}

function fieldsIn(path: string, longestBytes: number): Readonly<Record<string, unknown>> | null {
  try {
    const check = (stat: Stats) => requireOwn(path, stat);
    const text = readPlainFileSync(path, longestBytes, { flags: READ_NO_LINK, check });
    const fields = parseObject<Record<string, unknown>>(text);
    return Array.isArray(fields) ? null : fields;
  } catch {
    return null;
  }
}
