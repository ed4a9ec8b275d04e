/** Looks at all sessions, or at those that are due or have news, and skips those that cannot have become unhealthy. */
import { describeError, FencedError } from '../../src/errors.js';
import type { Finding } from '../../src/jobs/findings.js';
import type { Incident } from '../../src/jobs/incidents.js';
import type { Logger } from '../../src/log/logger.js';
import { SaidOnce } from '../../src/log/saidOnce.js';
import { giveWay, SECOND } from '../../src/time.js';
import type { Acting } from '../actors/actedFolders.js';
import type { OwnersAlive } from '../actors/watchedRecord.js';
import type { IncidentSaga } from '../incident/saga/saga.js';
import type { Agenda, Due } from './agenda.js';
import { type JudgeContext, SessionJudge } from './sessionJudge.js';

export const RETRY_MS = 5 * SECOND;
const CHANGED_MS = SECOND;
/** Other work gets a turn after this many sessions. */
const MOST_IN_A_ROW = 500;

export interface LookContext extends JudgeContext {
  readonly logger: Logger;
  readonly folders: Acting;
  readonly saga: IncidentSaga;
  readonly agenda: Agenda;
}

export interface LookOptions {
  readonly act: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Known facts about the owners of runs. */
  readonly owners?: OwnersAlive;
}

export class SessionLooks {
  readonly #context: LookContext;
  readonly #judge: SessionJudge;
  readonly #troubles: SaidOnce;
  readonly #brokenIncidents: SaidOnce;

  constructor(context: LookContext) {
    this.#context = context;
    this.#judge = new SessionJudge(context);
    this.#troubles = new SaidOnce(context.logger);
    this.#brokenIncidents = new SaidOnce(context.logger);
  }

  /** @returns the findings about each accused session, by its id */
  async lookAtAll({ act, signal }: LookOptions): Promise<ReadonlyMap<string, readonly Finding[]>> {
    const leases = await this.#leasesOver();
    const owners = this.#judge.newOwners();
    const sessions = this.#context.watched.all();
    await owners.ask(sessions);
    const accused = new Map<string, readonly Finding[]>();
    for (const [index, session] of sessions.entries()) {
      if (index % MOST_IN_A_ROW === 0) await giveWay();
      const { session_id: id } = session;
      const leaseUntil = leases.get(id) ?? null;
      if (leaseUntil === null && this.#judge.isUnchanged(session, owners)) continue;
      const findings = await this.#lookSafely(id, leaseUntil, { act, signal, owners });
      signal?.throwIfAborted();
      if (findings.length > 0) accused.set(id, findings);
    }
    return accused;
  }

  /** If the store cannot be read now, the look is repeated a little later, not at the next tick. */
  async lookAtDue({ news, sessions }: Due, signal: AbortSignal): Promise<void> {
    const { agenda, clock, gaps, logger } = this.#context;
    const left = new Set([...news, ...sessions]);
    try {
      for (const id of await this.#lookOnAt(sessions)) left.delete(id);
      if (left.size > 0) await gaps.refresh();
      for (const id of left) {
        if (signal.aborted) return;
        await this.#lookAgain(id);
        left.delete(id);
      }
    } catch (error) {
      for (const later of left) agenda.lookAt(later, clock.now() + RETRY_MS);
      logger.warn({ err: error }, `${left.size} sessions will be checked a little later: ${describeError(error)}`);
    }
  }

  /** @returns the open incidents, and whether there is one whose record cannot be read, which is logged once */
  async openIncidents(): Promise<{ incidents: Incident[]; isOneBroken: boolean }> {
    let isOneBroken = false;
    const incidents = await this.#context.store.records.openIncidents(({ message }) => {
      isOneBroken = true;
      this.#brokenIncidents.error(message, message);
    });
    return { incidents, isOneBroken };
  }

  /** So that no memory grows. */
  forgetAllBut(incidentIds: ReadonlySet<string>): void {
    const { agenda, saga, watched } = this.#context;
    agenda.forgetAllBut(watched, incidentIds);
    saga.forgetAllBut(incidentIds);
    this.#troubles.forgetAllBut({ has: (id) => watched.has(id) || incidentIds.has(id) });
  }

  /** @returns the sessions whose run's lease expired at least one lease ago, each with its end, epoch milliseconds */
  #leasesOver(): Promise<ReadonlyMap<string, number>> {
    const { clock, runLeaseMs, store } = this.#context;
    return store.records.leasesOverBefore(clock.now() - runLeaseMs);
  }

  /** @returns those that are still healthy */
  async #lookOnAt(sessionIds: readonly string[]): Promise<string[]> {
    if (sessionIds.length === 0) return [];
    const leases = await this.#leasesOver();
    const owners = this.#judge.newOwners();
    const healthy: string[] = [];
    for (const [index, id] of sessionIds.entries()) {
      if (index % MOST_IN_A_ROW === MOST_IN_A_ROW - 1) await giveWay();
      // A fault is logged when the session is looked at closely.
      const nextLook = leases.has(id) ? null : await this.#judge.lookOn(id, owners).catch(() => null);
      if (nextLook === null) continue;
      this.#context.agenda.lookAt(id, nextLook);
      healthy.push(id);
    }
    return healthy;
  }

  async #lookAgain(sessionId: string): Promise<void> {
    const { watched, store, saga } = this.#context;
    watched.disturb(sessionId);
    const session = await watched.refreshOne(sessionId);
    if (session === null) return this.#driveIncidentsAbout(sessionId);
    // The wake may be the one that its incident waits for: the proof that its run is dead.
    if (session.incident_id !== null) saga.drive(session.incident_id);
    await this.#lookSafely(sessionId, await store.records.leaseUntil(sessionId), { act: true });
  }

  /** A session that ended may be what an incident waits for: its own end, or its revival's. */
  async #driveIncidentsAbout(sessionId: string): Promise<void> {
    for (const incident of (await this.openIncidents()).incidents) {
      const isAbout = incident.session_id === sessionId || incident.revival_session_id === sessionId;
      if (isAbout) this.#context.saga.drive(incident.incident_id);
    }
  }

  /** One session's failure never stops the others. */
  async #lookSafely(sessionId: string, leaseUntil: number | null, options: LookOptions): Promise<readonly Finding[]> {
    const { agenda, clock } = this.#context;
    try {
      const findings = await this.#look(sessionId, leaseUntil, options);
      this.#troubles.forget(sessionId);
      return findings;
    } catch (error) {
      if (error instanceof FencedError) return [];
      if (options.act && !options.signal?.aborted) agenda.lookAt(sessionId, clock.now() + RETRY_MS);
      const said = `session ${sessionId} could not be judged: ${describeError(error)}`;
      this.#troubles.error(sessionId, said, { err: error, session_id: sessionId });
      return [];
    }
  }

  async #look(
    sessionId: string,
    leaseUntil: number | null,
    { act, signal, owners }: LookOptions,
  ): Promise<readonly Finding[]> {
    const { agenda, saga, clock, watched, folders } = this.#context;
    const verdict = await this.#judge.judge(sessionId, leaseUntil, owners);
    if (verdict === null) return [];
    const { session, rules, assessment } = verdict;
    const { findings, attention, tool_count: toolCount, last_tool_call: lastToolCall } = assessment;
    if (!act || signal?.aborted) return findings;
    agenda.lookAt(sessionId, verdict.nextLook);
    this.#judge.note(verdict);
    if (!folders.actsFor(session.run?.logs_id)) return findings;
    if (findings.length === 0) {
      // A watchdog that cannot see the journal does not know which rules another one found true in it. An agent at rest has not
      // recovered: its run is ending, and how it ends closes the incident.
      const isAtWork = attention !== 'idle' && !watched.isForeign(session);
      if (session.incident_id !== null && isAtWork) await saga.closeHealthy(session.incident_id);
    } else {
      const evidence = { findings, actions: rules.actions, toolCount, lastToolCall };
      if (!(await saga.accuse(session, evidence))) agenda.lookAt(sessionId, clock.now() + CHANGED_MS);
    }
    // Its first attempt's incident waits for its outcome.
    if (session.attempt === 2) await this.#driveIncidentsAbout(session.session_id);
    return findings;
  }
}
