/** Sessions that `track init` does not pass over: the caller first decides what becomes of them. */

import { UsageError } from '../../src/errors.js';
import { crashesHere, crashLines, crashOf } from '../brief/crashReport.js';
import type { Resuming } from '../brief/resuming.js';
import { meantFirst } from '../condition/weight.js';
import { runWords } from '../fold/runs.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Caller, Listener } from '../sessions/views.js';
import { heldLines, WAYS_AROUND } from '../show/status.js';

type Here = Resuming & Listener;

/** @returns the session that holds the directory, and those that crashed here and whose record no agent was given */
export async function inTheWay(memory: Here, holder: OpenSession | null): Promise<OpenSession[]> {
  // An agent whose hook has begun its session got the report then.
  if (hasSession(memory)) return holder === null ? [] : [holder];
  return allHere(memory, holder, ({ log }) => log.state.told === null);
}

/** @returns the session that holds the directory, and those that crashed here */
export async function allHere(
  memory: Here,
  holder: OpenSession | null,
  matches: (crashed: OpenSession) => boolean = () => true,
): Promise<OpenSession[]> {
  const crashes = await crashesHere(memory);
  const others = crashes.filter(({ id }) => id !== holder?.id).map(({ id }) => memory.which(id));
  return [...(holder === null ? [] : [holder]), ...others.filter(matches)];
}

/**
 * @returns the session that crashed here, for a caller who resumes without naming one; null if none did
 * @throws UsageError if there are several
 */
export async function onlyCrashed(memory: Here): Promise<OpenSession | null> {
  const ids = meantFirst(await crashesHere(memory)).map(({ id }) => id);
  if (ids.length > 1)
    throw new UsageError(`${ids.length} sessions crashed here; name one with --session: ${ids.join(', ')}`);
  return ids[0] === undefined ? null : memory.which(ids[0]);
}

/** @returns for a person: the session that is unfinished, crashed ones with their proof, and what can be done */
export async function reportOn(sessions: readonly OpenSession[], memory: Resuming): Promise<string[]> {
  const now = memory.clock.now();
  const lines: string[] = [];
  for (const session of sessions) {
    const crash = await crashOf(memory, session);
    const { id, log } = session;
    lines.push(...(crash === null ? heldLines(id, log.state, now) : crashLines(crash, now)));
  }
  // The advice of each says how to resume it.
  return [...lines, ...WAYS_AROUND, ...sessions.flatMap((session) => atWork(session, memory))];
}

function atWork({ log }: OpenSession, memory: Caller): string[] {
  const [other] = memory.otherRuns(log.state);
  return other === undefined ? [] : [`${runWords(other)}; while it does, work beside it`];
}

function hasSession({ conversation, agentProcess, bindings }: Caller): boolean {
  return (
    (conversation !== null && bindings.sessionOf(conversation) !== null) ||
    (agentProcess !== null && bindings.sessionOf({ process: agentProcess }) !== null)
  );
}
