/** `state.json` of a session. It is generated, and says nothing unless the logs are still those that it was made from. */
import { fstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { READ_NO_LINK, withFileSync } from '../../src/files/plainFile.js';
import { parseObject } from '../../src/json.js';
import { journalIn, worklogIn } from '../home/places.js';
import { LOG_VERSION } from '../logs/line.js';
import type { Log } from '../logs/log.js';
import { tailOf } from '../logs/tail.js';

export const STATE_FILE = 'state.json';

/** The other fields are those of `docs/memory.md`. */
export interface StateFile {
  readonly v: number;
  /** Bytes of the worklog that were folded. */
  readonly at: number;
  /** Of the last of them, see {@link tailOf}. */
  readonly tail: number;
  /** Bytes of the journal or kept copy that were folded. */
  readonly kept: number;
  readonly [field: string]: unknown;
}

/**
 * @returns the state, if it was made from all that there is now; else null
 * @throws the file system's error if the worklog cannot be read
 */
export function presentState(folder: string): StateFile | null {
  return withFileSync(worklogIn(folder), READ_NO_LINK, (descriptor) => {
    const { size } = fstatSync(descriptor);
    const state = ownState(folder);
    if (state === null || state.at !== size || state.tail !== tailOf(descriptor, size)) return null;
    // What was folded of a copy that has been removed since is the last that is known.
    return (keptBytes(folder) ?? state.kept) === state.kept ? state : null;
  });
}

/** @returns bytes of the worklog that the state covers; 0 if there is none, or it was made from another worklog */
export function coveredBytes(folder: string, log: Log<unknown>): number {
  const state = ownState(folder);
  return state !== null && log.tailAt(state.at) === state.tail ? state.at : 0;
}

/** @returns whether a newer version has written it */
export function isOfNewerVersion(folder: string): boolean {
  const version = stateIn(folder)?.v;
  return typeof version === 'number' && version > LOG_VERSION;
}

/** @returns the size of the journal or kept copy; null if there is none */
export function keptBytes(folder: string): number | null {
  return statSync(journalIn(folder), { throwIfNoEntry: false })?.size ?? null;
}

function ownState(folder: string): StateFile | null {
  const state = stateIn(folder);
  const isOwn = state?.v === LOG_VERSION && [state.at, state.kept].every(Number.isSafeInteger);
  return isOwn ? (state as StateFile) : null;
}

/** @returns null if it is missing or damaged */
function stateIn(folder: string): Partial<StateFile> | null {
  try {
    const path = join(folder, STATE_FILE);
    return parseObject(withFileSync(path, READ_NO_LINK, (descriptor) => readFileSync(descriptor, 'utf8')));
  } catch {
    return null;
  }
}
