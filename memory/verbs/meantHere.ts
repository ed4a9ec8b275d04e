/**
 * Finds the session that a person in a second shell means, for a verb that only shows it. There may be thousands here: they are weighed,
 * and few of them are read.
 */
import { counted } from '../../src/counted.js';
import { isUnfinished } from '../condition/weight.js';
import { type Weighed, type WeighedHere, weighedHere } from '../look/unfinished.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';

/** Ended sessions that are looked at for the one that ended last, the last begun first. */
const MOST_ENDED = 50;

export interface MeantHere {
  readonly session: OpenSession;
  /** Which one was taken, and why, if the caller has named none. */
  readonly asides: readonly string[];
}

interface Asked {
  readonly id?: string | undefined;
  readonly session: string | undefined;
}

/**
 * @param orLast whether the last session of the directory will do, if no agent is at work there, and none was interrupted
 * @returns the named session, or the one that the caller's agent or directory means. Else the only one at work in the directory; else the
 *   only one that crashed or was cut off
 * @throws UsageError if there is none of that name, or it is not clear
 */
export async function meantHere(memory: Memory, { id, session }: Asked, orLast = false): Promise<MeantHere> {
  const name = id ?? session;
  const known = name === undefined ? memory.implied() : memory.which(name);
  if (known !== null) return { session: known, asides: [] };
  const here = await weighedHere(memory, memory.workspace);
  const interrupted = here.gone.filter(({ isInterrupted }) => isInterrupted);
  const [found = [], why = ''] =
    [
      [here.atWork, 'the only one here with an agent'] as const,
      [interrupted, 'the only one here whose agent crashed or was cut off'] as const,
    ].find(([sessions]) => sessions.length > 0) ?? [];
  const [only] = found;
  if (only !== undefined && found.length === 1) return taken(memory, only.id, why);
  const last = orLast && found.length === 0 ? lastOf(memory, here) : null;
  if (last !== null) return last;
  throw memory.unclear(found.length > 1 ? opened(memory, found) : undefined);
}

function taken(memory: Memory, id: string, why: string, asides: readonly string[] = []): MeantHere {
  return { session: memory.which(id), asides: [`session ${id}: ${why}`, ...asides] };
}

function opened(memory: Memory, sessions: readonly { readonly id: string }[]): OpenSession[] {
  return sessions.flatMap(({ id }) => memory.look(id) ?? []);
}

/** @returns null if unfinished ones were active later than the one that ended last: one of them may be meant */
function lastOf(memory: Memory, { gone }: WeighedHere): MeantHere | null {
  const latest = newestOf(gone);
  const unfinished = gone.filter(isUnfinished);
  const ended = lastEnded(memory);
  if (ended !== null && ended.at >= (latest?.last_activity ?? 0)) {
    const others = `${counted(unfinished.length, 'other session')} here ${unfinished.length === 1 ? 'is' : 'are'} unfinished: watchkeeper work list --here`;
    return taken(memory, ended.id, 'the last one here', unfinished.length === 0 ? [] : [others]);
  }
  return latest === null || unfinished.length > 0 ? null : taken(memory, latest.id, 'the last one here');
}

function newestOf(sessions: readonly Weighed[]): Weighed | null {
  const [first = null, ...rest] = sessions;
  return rest.reduce(
    (newest, one) => ((one.last_activity ?? 0) > (newest?.last_activity ?? 0) ? one : newest),
    first as Weighed | null,
  );
}

function lastEnded(memory: Memory): { readonly id: string; readonly at: number } | null {
  const { claims, workspace, sessions, places } = memory;
  const ids = [...(claims.read(workspace)?.sessions ?? [])].reverse();
  const isOver = (id: string) => sessions.endsEnded(id) || places.findSession(id) !== places.sessionFolder(id);
  let last: { readonly id: string; readonly at: number } | null = null;
  let looked = 0;
  for (const id of ids) {
    if (looked === MOST_ENDED) break;
    if (!isOver(id)) continue;
    looked += 1;
    const end = memory.look(id)?.log.state.end ?? null;
    if (end === null || end.reason === 'superseded' || end.at === null) continue;
    if (last === null || end.at > last.at) last = { id, at: end.at };
  }
  return last;
}
