/** `state.json` of a session. It is generated, and says nothing unless the logs are still those that it was made from. */
import { isAscii } from 'node:buffer';
import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { requireOwn, requireOwnFolder, withOwnFileSync } from '../../src/files/ownFile.js';
import { readAt } from '../../src/files/readAt.js';
import { parseObject } from '../../src/json.js';
import { journalIn, worklogIn } from '../home/places.js';
import { LOG_VERSION } from '../logs/line.js';

export const STATE_FILE = 'state.json';

/** `docs/internals/memory.md` says what these fields are for. The others are those of `memory/fold/state.ts`. */
export interface StateFile {
  readonly v: number;
  /** Bytes of the worklog that were folded. */
  readonly at: number;
  /** Bytes of the journal or kept copy that were folded. */
  readonly kept: number;
  readonly [field: string]: unknown;
}

/**
 * @returns the state, if it was made from all that there is now; else null
 * @throws the file system's error if the worklog cannot be read; NotOwnError if others own or may write it or the folder
 */
export function presentState(folder: string): StateFile | null {
  const own = ownState(folder);
  if (own === null) return null;
  const { state, writtenAt } = own;
  // A worklog only grows; an edited one is younger.
  const worklog = lstatSync(worklogIn(folder));
  if (!worklog.isFile() || worklog.size !== state.at || worklog.mtimeMs > writtenAt) return null;
  requireOwnFolder(folder);
  requireOwn(worklogIn(folder), worklog);
  // If the copy was removed, the state folded from it is the last that is known.
  return (keptBytes(folder) ?? state.kept) === state.kept ? state : null;
}

/** @returns bytes of the worklog that the state covers; 0 if there is none */
export function coveredBytes(folder: string): number {
  return ownState(folder)?.state.at ?? 0;
}

/** @returns whether a newer version has written it */
export function isOfNewerVersion(folder: string): boolean {
  const version = stateIn(folder)?.state.v;
  return typeof version === 'number' && version > LOG_VERSION;
}

/** @returns the size of the journal or kept copy; null if there is none */
export function keptBytes(folder: string): number | null {
  return statSync(journalIn(folder), { throwIfNoEntry: false })?.size ?? null;
}

interface Written<State> {
  readonly state: State;
  /** UTC epoch milliseconds. */
  readonly writtenAt: number;
}

function ownState(folder: string): Written<StateFile> | null {
  const written = stateIn(folder);
  if (written === null) return null;
  const { v, at, kept } = written.state;
  return v === LOG_VERSION && [at, kept].every(Number.isSafeInteger) ? (written as Written<StateFile>) : null;
}

/** ASCII is copied in a fraction of the time of decoding. */
function textIn(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

/** @returns null if it is missing or damaged, or others own or may write it */
function stateIn(folder: string): Written<Partial<StateFile>> | null {
  try {
    const path = join(folder, STATE_FILE);
    return withOwnFileSync(path, (descriptor, { size, mtimeMs }) => {
      const state: Partial<StateFile> | null = parseObject(textIn(readAt(descriptor, 0, size)));
      return state === null ? null : { state, writtenAt: mtimeMs };
    });
  } catch {
    return null;
  }
}
