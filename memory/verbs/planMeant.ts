/** Finds the session whose plan an agent means that has only just begun: its own conversation has none yet. */
import { isUnfinished, meantFirst } from '../condition/weight.js';
import { isImplicit } from '../fold/unused.js';
import type { Locating } from '../look/standing.js';
import { weighedHere } from '../look/unfinished.js';
import { readPurpose } from '../observed/purpose.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Listener } from '../sessions/views.js';

type Meaning = Locating & Listener;

const MOST_NAMED = 5;

/**
 * @param named an id or a name; undefined if the caller names none
 * @returns the named session, or the caller's own; if that has no plan, the one that holds the directory, else the only unfinished one there
 * @throws UsageError if there is none of that name, or it is not clear
 */
export async function planMeant(memory: Meaning, named: string | undefined): Promise<OpenSession> {
  if (named !== undefined) return memory.which(named);
  const own = memory.implied();
  if (own !== null && !hasNoPlan(own)) return own;
  const others = await unfinishedBesides(memory, own);
  const [only] = others;
  if (only !== undefined && others.length === 1) return memory.which(only.session_id);
  if (others.length > 1) throw memory.unclear(others.flatMap(({ session_id }) => memory.look(session_id) ?? []));
  if (own === null) throw memory.unclear();
  return own;
}

/** An unfinished session of the directory. */
export interface UnfinishedHere {
  readonly session_id: string;
  readonly purpose: string;
}

/** @returns the session that holds the directory, else those on which no agent works, the heaviest first; at most five */
export async function unfinishedBesides(memory: Meaning, own: OpenSession | null): Promise<UnfinishedHere[]> {
  const holder = memory.holder();
  if (holder !== null && holder.id !== own?.id) return [await shown(memory, holder)];
  const { gone } = await weighedHere(memory, memory.workspace, { except: own?.id ?? null });
  const ids = meantFirst(gone.filter(isUnfinished)).filter((_, index) => index < MOST_NAMED);
  return Promise.all(ids.flatMap(({ id }) => memory.look(id) ?? []).map((session) => shown(memory, session)));
}

export function hasNoPlan({ log: { state } }: OpenSession): boolean {
  return isImplicit(state) && state.steps.size === 0;
}

/** The purpose of a session that recorded itself is its first prompt. */
async function shown({ programs, stamp }: Meaning, { id, log: { state } }: OpenSession): Promise<UnfinishedHere> {
  return { session_id: id, purpose: state.facts?.purpose || (await readPurpose(state, programs, stamp.redact)) };
}
