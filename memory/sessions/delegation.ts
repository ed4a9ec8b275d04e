/** Child sessions: a separate process works on a part of a session's work. Parents never change, so there are no cycles. */
import { onlyStepInProgress } from '../fold/rules/files.js';
import { worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { type Refusal, RefusedError } from '../logs/kind.js';
import type { Beginning } from './lifecycle.js';
import type { Memory } from './memory.js';
import type { OpenSession, Sessions } from './sessions.js';
import type { Viewer } from './views.js';

/** The deepest that is followed: a damaged record must not end in a cycle here. */
const DEEPEST = 100;

/** Gives parts of a session's work to sessions of their own. */
export type Delegating = Viewer & Pick<Memory, 'lifecycle'>;

/**
 * Begins a session for a part of its parent's work. Its own line is first; the parent's log decides whether it is one too many.
 * @throws RefusedError if it would be too deep or one too many, or if the parent has ended
 */
export function beginChild(memory: Delegating, parent: OpenSession, beginning: Beginning): OpenSession {
  const early = childRefusal(memory, parent.log.state);
  if (early !== null) throw new RefusedError(early);
  const step = onlyStepInProgress(parent.log.state) ?? undefined;
  const fields = { ...beginning.fields, parent: parent.id, parent_step: step };
  const session = memory.lifecycle.begin(memory.workspace, { ...beginning, fields });
  const line = worklogKind.line('child', { child: session.id, step, most: memory.settings.delegation.max_children });
  const [refusal] = parent.log.write(() => [line], memory.stamp);
  if (!refusal) return session;
  memory.lifecycle.end(session, memory.workspace, { lines: () => [], reason: 'superseded' });
  throw new RefusedError(refusal);
}

/** A child whose beginning was killed before its parent's log knew of it. That log decides now: one too many is superseded. */
export function settleChild(memory: Delegating, { id, log }: OpenSession): void {
  const { facts, lifecycle } = log.state;
  const { max_children: most } = memory.settings.delegation;
  const line = worklogKind.line('child', { child: id, step: facts?.parent_step ?? undefined, most });
  const refusal = memory.sessions.withSession(lifecycle === 'ended' ? null : (facts?.parent ?? null), (parent) => {
    const [outcome] = parent.log.state.children.has(id) ? [] : parent.log.write(() => [line], memory.stamp);
    return outcome ?? null;
  });
  if (refusal?.code !== 'too_many_children') return;
  const workspace = facts?.workspace == null ? null : memory.claims.find(facts.workspace);
  memory.lifecycle.end({ id, log, folder: '' }, workspace, { lines: () => [], reason: 'superseded' });
}

/** @returns how many sessions it was delegated through; 0 for a root */
export function depthOf(sessions: Sessions, { facts }: Worklog): number {
  return parentsOf(sessions, facts?.parent ?? null).length;
}

/** @returns a session and those above it, the nearest first; the last may be gone */
export function parentsOf(sessions: Sessions, id: string | null): string[] {
  const parents: string[] = [];
  for (let at = id; at !== null && parents.length < DEEPEST; ) {
    parents.push(at);
    at = sessions.read(at)?.log.state.facts?.parent ?? null;
  }
  return parents;
}

/** @returns why the session may have no other child. Null if it may */
export function childRefusal({ settings, sessions }: Viewer, parent: Worklog): Refusal | null {
  const { max_depth, max_children: most } = settings.delegation;
  const { session_id, lifecycle, archived, children } = parent;
  const depth = depthOf(sessions, parent) + 1;
  if (depth > max_depth) {
    const message = `the session would be ${depth} levels below its root, and at most ${max_depth} are allowed`;
    return { code: 'too_deep', message };
  }
  if (archived !== null) return { code: 'archived', message: `session ${session_id} is in the archive` };
  if (lifecycle === 'ended')
    return { code: 'ended', message: `session ${session_id} has ended; first: watchkeeper work reopen ${session_id}` };
  if (children.size < most) return null;
  return { code: 'too_many_children', message: `session ${session_id} has ${most} child sessions already` };
}
