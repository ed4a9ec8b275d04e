/** Decisions that touch two logs: the session's own line first, the deciding log second. */
import { overBy, type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { checkoutOf } from '../git/checkout.js';
import type { Places } from '../home/places.js';
import { RefusedError } from '../logs/kind.js';
import type { Stamp } from '../logs/line.js';
import type { EndReason } from '../words.js';
import type { Claims } from '../workspaces/claims.js';
import { heldBy } from '../workspaces/log.js';
import type { Workspace } from '../workspaces/workspace.js';
import { requireOwnMemory } from './ownMemory.js';
import type { OpenSession, Sessions, Started } from './sessions.js';

export interface Beginning {
  readonly purpose: string;
  /** Further fields of `session_started`. */
  readonly fields: Omit<Started, 'purpose'>;
  /** Lines of its plan. */
  readonly plan: readonly WorklogLine[];
  /** Claims nothing, and works next to the session that holds the workspace. */
  readonly concurrent: boolean;
  /** Taken if it is free. */
  readonly id?: string | undefined;
}

export interface Ending {
  /** They belong to the end: the last moves of its steps. Another process may move one before they are written; that move holds. */
  readonly lines: (state: Worklog) => readonly WorklogLine[];
  readonly reason: EndReason;
  readonly summary?: string | undefined;
}

export class Lifecycle {
  readonly #sessions: Sessions;
  readonly #claims: Claims;
  readonly #stamp: Stamp;
  readonly #places: Places;

  constructor(places: Places, sessions: Sessions, claims: Claims, stamp: Stamp) {
    this.#places = places;
    this.#sessions = sessions;
    this.#claims = claims;
    this.#stamp = stamp;
  }

  /**
   * Begins a session that holds its workspace.
   * @throws RefusedError with the code `held` if another one does, or in the memory of a bridge, as everything here
   * @throws UsageError, UnreachableError if the workspace's log cannot be written to; then the session has ended
   */
  begin(workspace: Workspace, { purpose, fields, plan, concurrent, id }: Beginning): OpenSession {
    requireOwnMemory(this.#places);
    if (!concurrent) this.#requireFree(workspace);
    const session = this.#sessions.begin(
      { purpose, workspace: workspace.id, concurrent, ...baselineOf(workspace), ...fields },
      plan,
      id,
    );
    try {
      if (concurrent) this.#claims.enter(workspace, session.id, 'declared');
      else this.#claim(workspace, session.id);
    } catch (error) {
      session.log.write(() => [worklogKind.line('session_ended', { reason: 'superseded' })], this.#stamp);
      throw error;
    }
    return session;
  }

  /**
   * @param workspace that it may hold; null if it has none
   * @throws RefusedError if it has ended already, or is in the archive; then nothing is written
   */
  end({ id, log }: OpenSession, workspace: Workspace | null, { lines, reason, summary }: Ending): void {
    requireOwnMemory(this.#places);
    const claim = workspace === null ? null : this.#claims.claimOf(workspace, id);
    const outcomes = log.write((state) => {
      const refusal = overBy(state);
      if (refusal !== null) throw new RefusedError(refusal);
      return [...lines(state), worklogKind.line('session_ended', { reason, summary })];
    }, this.#stamp);
    this.#decide(outcomes.slice(-1));
    if (workspace !== null && claim !== null) this.#claims.release(workspace, claim);
  }

  /** @throws RefusedError if it has not ended, or another session holds the workspace now */
  reopen(session: OpenSession, workspace: Workspace | null): void {
    requireOwnMemory(this.#places);
    const { log } = session;
    const before = log.state.end;
    const isConcurrent = log.state.facts?.concurrent === true;
    // Two may reopen at once: then the claim below decides.
    this.requireFreeFor(session, workspace);
    const outcomes = log.write(({ lifecycle, session_id }) => {
      if (lifecycle !== 'ended')
        throw new RefusedError({ code: 'not_ended', message: `session ${session_id} has not ended` });
      return [worklogKind.line('session_reopened', {})];
    }, this.#stamp);
    this.#decide(outcomes);
    if (workspace === null || isConcurrent) return;
    try {
      this.#claim(workspace, session.id);
    } catch (error) {
      const { reason = 'superseded', summary } = before ?? {};
      log.write(() => [worklogKind.line('session_ended', { reason, summary: summary ?? undefined })], this.#stamp);
      throw error;
    }
  }

  /**
   * Must be called before anything is written: lines that take something back are activity, and a refused session has had none.
   * @throws RefusedError if the session has ended, and another one holds the workspace now
   */
  requireFreeFor({ log }: OpenSession, workspace: Workspace | null): void {
    const { end, facts } = log.state;
    if (end !== null && workspace !== null && facts?.concurrent !== true) this.#requireFree(workspace);
  }

  #requireFree(workspace: Workspace): void {
    const holder = this.#claims.holder(workspace);
    if (holder !== null) throw new RefusedError(heldBy(holder, workspace.root));
  }

  #claim(workspace: Workspace, sessionId: string): void {
    const refusal = this.#claims.claim(workspace, sessionId);
    if (refusal !== null) throw new RefusedError(refusal);
  }

  #decide(outcomes: ReturnType<OpenSession['log']['write']>): void {
    const refusal = outcomes.find((outcome) => outcome !== null);
    if (refusal) throw new RefusedError(refusal);
  }
}

/** @returns whether a session may hold a workspace */
export function mayHold({ lifecycle, archived }: Worklog): boolean {
  return lifecycle !== 'ended' && archived === null;
}

/**
 * @returns a field of `session_started`: the commit and branch of its directory. Only git knows whether there are uncommitted changes, and
 *   asking it takes too long at the start of an agent
 */
export function baselineOf({ root, kind }: Workspace): Pick<Started, 'baseline'> {
  const baseline = kind === 'git' ? checkoutOf(root) : null;
  return baseline === null ? {} : { baseline };
}
