/** Finds the session that a verb is about. */
import { UsageError } from '../../src/errors.js';
import { type Locating, openHere } from '../look/standing.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Listener } from '../sessions/views.js';
import { word } from './fields.js';

/** The session as a word of its own, for verbs that are about one. */
export const ID = word('ID');
export const MAYBE_ID = word('[ID]');

interface Named {
  readonly id?: string | undefined;
  readonly session: string | undefined;
}

/**
 * @returns the named session; without a name, the one that the caller's agent or directory means
 * @throws UsageError if there is none of that name, or it is not clear
 */
export function meant(memory: Locating & Listener, { id, session }: Named): OpenSession {
  const name = id ?? session;
  if (name !== undefined) return memory.which(name);
  const implied = memory.implied();
  if (implied === null) throw memory.unclear(openHere(memory));
  return implied;
}

/** @throws UsageError if none is named, or none has that name */
export function named(memory: Listener, { id, session }: Named): OpenSession {
  const name = id ?? session;
  if (name === undefined) throw new UsageError('which session? Name its id; `watchkeeper work list --all` shows them');
  return memory.which(name);
}
