/**
 * The transitions of a session by a person or a run. `incidentTransitions.ts` has those by the watchdog.
 *
 * ```text
 *   accept            start                  complete
 * ─────────▶ pending ───────▶ active ─────────────────▶ completed
 *               │  ▲            │  │
 *               │  └────────────┘  └──── fail, revive ──▶ failed
 *        cancel │    interrupt     │
 *               └──────────────────┴──────────────────▶ cancelled
 * ```
 *
 * Every transition is one commit that checks `rev`. Ended sessions never change state again. A pending session is owned by its
 * lane, an active one by its run, which is also what the lane's holder key names.
 */

import { applyCommit } from '../redis/commit.js';
import { type Acceptance, type AcceptedMessage, acceptSession } from './acceptance.js';
import { ownMessageWrites } from './chatMemory.js';
import { type AgentSession, type DeathProof, MOST_INTERRUPTIONS, type Run, type StopRequest } from './model.js';
import type { SessionDraft } from './newRecords.js';
import { isRunBy, type Learned, learnedChange, ownedChange, startedChange } from './runChanges.js';
import { endRunBesideReport } from './runEnds.js';
import { type Change, changeSession, holderCheck, updateSession, wakeWrite } from './sessionChange.js';
import {
  type ChosenWait,
  cancelledChange,
  endedChange,
  interruptedChange,
  type KnownEnd,
  OUTCOME_OF,
  waitingChange,
} from './sessionEnds.js';
import { StorePart } from './storePart.js';

export type { AcceptedMessage };

export interface AnsweredSession {
  readonly session: AgentSession;
  /** The session that may start now in the released lane; null if there is none. */
  readonly next: string | null;
}

type Decide = (session: AgentSession) => Change | null;

export class Transitions extends StorePart {
  /** One commit. @throws ioredis' error: repeating the call finds it accepted, if it was; FencedError: nothing was accepted */
  async accept(draft: SessionDraft, acceptance: Acceptance = {}): Promise<AcceptedMessage> {
    return acceptSession(this.context, draft, acceptance);
  }

  /** `pending → active`: only a lane's head, while no run holds it. @returns also the conversation; null if it is not its turn */
  async start(session: AgentSession, run: Run, leaseMs: number) {
    if (session.status !== 'pending') return null;
    const started = await changeSession(this.context, session, startedChange(this.context, session, run, leaseMs));
    return started && { session: started.session, conversationId: started.found[0] ?? null };
  }

  /** Also sets `last_activity`. @returns false if the run no longer holds its lane: it must end itself */
  async renewLease(session: AgentSession, leaseMs: number, lastActivity: number): Promise<boolean> {
    const { redis, keys } = this;
    return applyCommit(redis, {
      at: 'renew',
      checks: [holderCheck(keys, session)],
      writes: [
        ['ZADD', keys.runLeases, String(this.clock.now() + leaseMs), session.session_id],
        ['HSET', keys.session(session.session_id), 'last_activity', String(lastActivity)],
      ],
    });
  }

  async recordRun(sessionId: string, runId: string, learned: Learned): Promise<AgentSession | null> {
    const decide = ownedChange(this.context, runId, (session, run) =>
      learnedChange(this.context, session, run, learned),
    );
    return this.#update(sessionId, decide);
  }

  async recordWaitingMessage(sessionId: string, progressMessageId: string): Promise<AgentSession | null> {
    return this.#update(sessionId, (session) => {
      if (session.status !== 'pending') return null;
      const writes = ownMessageWrites(this.context, session, progressMessageId);
      return { patch: { request: { progress_message_id: progressMessageId } }, writes };
    });
  }

  /**
   * `active → completed`: the answer and its outbox entry together.
   * @param options `isGone` is false if a process of the run may still live: then its lane stays blocked. `known` is the record
   *   as its run last saw it; it saves a read if it has not changed since
   * @returns null if the run may not answer any more (released, revived, cancelled)
   */
  async complete(
    sessionId: string,
    runId: string,
    answer: string,
    { isGone = true, known = null }: { readonly isGone?: boolean; readonly known?: AgentSession | null } = {},
  ): Promise<AnsweredSession | null> {
    const given: KnownEnd = { kind: 'answer', text: answer, mayBeInChat: false };
    const decide = ownedChange(this.context, runId, (session) => ({
      at: 'complete',
      ...endedChange(this.context, session, given, isGone),
    }));
    return this.#end(sessionId, decide, known);
  }

  /** For a run that is proven dead, or never began. @returns null if the session is not active, or an acting incident has it */
  async endForgotten(sessionId: string, runId: string, end: KnownEnd): Promise<AnsweredSession | null> {
    const ended = await endRunBesideReport(this.context, sessionId, OUTCOME_OF[end.kind], (session) => {
      if (!isRunBy(session, runId)) return null;
      const change = endedChange(this.context, session, end, true);
      return { at: 'complete_forgotten', ...change, checks: [holderCheck(this.keys, session)] };
    });
    return ended && { session: ended.session, next: ended.found[0] ?? null };
  }

  /**
   * `active → pending` for an orderly interruption: the same session, back at its lane's head.
   * @param proof that no process of the run is left
   * @param notBefore epoch ms, if a provider's limit has to end first
   * @returns null if a person or an acting incident has asked for its end, it was interrupted too often, or its lane is another
   *   run's
   */
  async interrupt(
    sessionId: string,
    runId: string,
    proof: DeathProof,
    notBefore: number | null = null,
  ): Promise<AgentSession | null> {
    if (proof.run_id !== runId) return null;
    const ended = await endRunBesideReport(this.context, sessionId, 'put_back', (session) => {
      if (!isRunBy(session, runId) || session.stop !== null) return null;
      if (session.interruptions >= MOST_INTERRUPTIONS) return null;
      const change = interruptedChange(this.context, session, notBefore);
      return { at: 'interrupt', ...change, checks: [holderCheck(this.keys, session)] };
    });
    return ended?.session ?? null;
  }

  /** As {@link interrupt}, without counting as one. @param chooseWait returns null if it waited long enough */
  async putBackToWait(
    sessionId: string,
    proof: DeathProof,
    chooseWait: (session: AgentSession) => ChosenWait | null,
  ): Promise<AgentSession | null> {
    const ended = await endRunBesideReport(this.context, sessionId, 'put_back', (session) => {
      if (!isRunBy(session, proof.run_id) || session.stop !== null) return null;
      const chosen = chooseWait(session);
      if (chosen === null) return null;
      const change = waitingChange(this.context, session, chosen);
      return { at: 'interrupt', ...change, checks: [holderCheck(this.keys, session)] };
    });
    return ended?.session ?? null;
  }

  /** @param options `isQuiet` if the person reads of it elsewhere @returns the session afterwards; null if it has ended already */
  async cancel(
    sessionId: string,
    text: string,
    { isQuiet = false }: { readonly isQuiet?: boolean } = {},
  ): Promise<AgentSession | null> {
    return this.#update(sessionId, (session) => {
      if (session.status === 'pending')
        return { at: 'cancel', ...cancelledChange(this.context, session, text, isQuiet) };
      if (session.status !== 'active' || session.run === null) return null;
      const stop: StopRequest = {
        run_id: session.run.run_id,
        cause: 'cancel',
        incident_id: session.incident_id,
        requested_at: this.clock.now(),
        ...(isQuiet && { quiet: true }),
      };
      return { at: 'cancel', patch: { stop }, writes: [wakeWrite(this.keys, { stop: sessionId })] };
    });
  }

  /** Stores that no process of the run is left. The lane stays held: the watchdog decides the next step. */
  async release(sessionId: string, proof: DeathProof): Promise<AgentSession | null> {
    return this.#update(sessionId, (session) => {
      if (!isRunBy(session, proof.run_id) || session.released !== null) return null;
      return { at: 'release', patch: { released: proof }, writes: [wakeWrite(this.keys, { session: sessionId })] };
    });
  }

  /** Once the run is proven dead. Ends an incident that only reports. @returns null if no person asked, or one acts */
  async cancelReleased(sessionId: string, runId: string, text: string): Promise<AgentSession | null> {
    const ended = await endRunBesideReport(this.context, sessionId, 'cancelled_by_person', (session) => {
      if (!isRunBy(session, runId)) return null;
      if (session.released === null || session.stop?.cause !== 'cancel') return null;
      return { at: 'cancel', ...cancelledChange(this.context, session, text) };
    });
    return ended?.session ?? null;
  }

  async #update(sessionId: string, decide: Decide): Promise<AgentSession | null> {
    return (await updateSession(this.context, sessionId, decide))?.session ?? null;
  }

  async #end(sessionId: string, decide: Decide, known: AgentSession | null = null): Promise<AnsweredSession | null> {
    const ended = await updateSession(this.context, sessionId, decide, known);
    return ended && { session: ended.session, next: ended.found[0] ?? null };
  }
}
