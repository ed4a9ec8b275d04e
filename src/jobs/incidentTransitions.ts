/**
 * The watchdog's transitions. Each commit that follows from a decision also checks the watchdog's lease, so that a holder that
 * was paused and wakes up late changes nothing.
 */
import { FencedError } from '../errors.js';
import type { CommitName } from '../failpoints.js';
import { applyCommit, type Check, documentChecks, documentWrite, type Write } from '../redis/commit.js';
import type { Clock } from '../time.js';
import { laneBlockWrites } from './blockedLanes.js';
import type { Incident, IncidentOutcome } from './incidents.js';
import { laneEntryWrites } from './lanes.js';
import { type AgentSession, MOST_INTERRUPTIONS } from './model.js';
import { subjectName } from './names.js';
import { newOutboxEntry, revivalOf } from './newRecords.js';
import {
  changeSession,
  laneReleaseWrites,
  outboxWrites,
  type SessionPatch,
  type StoreContext,
  sessionWrites,
  wakeWrite,
} from './sessionChange.js';
import { cancelledChange, endedChange, interruptedChange, type KnownEnd } from './sessionEnds.js';

/** The check in every commit of the acting watchdog; empty for the owner of a run that opens its own incident. */
export type Guard = readonly Check[];

/** The outcome of the incident by the kind of the final message that was found. */
const OUTCOME_OF = { answer: 'answered', failure: 'told', cancelled: 'cancelled_by_person' } as const;

export class IncidentTransitions {
  private readonly context: StoreContext;
  private readonly clock: Clock;

  constructor(context: StoreContext, clock: Clock) {
    this.context = context;
    this.clock = clock;
  }

  /**
   * At most one incident is open per session.
   * @returns whether the incident is open now; false if the session changed or has one already
   */
  async open(session: AgentSession, incident: Incident, guard: Guard): Promise<boolean> {
    if (session.incident_id !== null) return false;
    const opened = await changeSession(this.context, session, {
      at: 'open_incident',
      patch: { incident_id: incident.incident_id },
      checks: [...guard, ...this.unchanged(incident, null)],
      writes: this.openWrites(incident),
    });
    return opened !== null;
  }

  /**
   * For an incident about something other than a session's run: at most one is open per subject.
   * @returns whether the incident is open now; false if another one is
   */
  async openAbout(incident: Incident, guard: Guard): Promise<boolean> {
    const { redis, keys, records } = this.context;
    const name = subjectName(incident);
    if (name === null) throw new RangeError(`incident ${incident.incident_id} has no subject of its own`);
    const key = keys.incidentAbout(name);
    const former = await redis.get(key);
    // A name may outlive a record that was set aside, and an incident with an outcome only waits for its last report.
    const open = former === null ? null : await records.incident(former);
    if (open !== null && open.step !== 'closed' && open.outcome === null) return false;
    return applyCommit(redis, {
      at: 'open_incident',
      checks: [...guard, ...this.unchanged(incident, null), { read: ['GET', key], equals: former }],
      writes: [...this.openWrites(incident), ['SET', key, incident.incident_id]],
    });
  }

  /**
   * For actions outside Redis, which no commit could refuse.
   * @throws FencedError if another watchdog acts now
   */
  async requireGuard(guard: Guard): Promise<void> {
    if (guard.length === 0 || (await applyCommit(this.context.redis, { checks: guard, writes: [] }))) return;
    throw new FencedError('another watchdog acts for this logs folder now');
  }

  /** @returns the incident after a change that affects nothing else; null if another process was first */
  async save(incident: Incident, patch: Partial<Incident>, guard: Guard): Promise<Incident | null> {
    const next = this.next(incident, patch);
    const writes = [documentWrite(this.context.keys.incident(incident.incident_id), next)];
    const checks = [...guard, ...this.unchanged(incident, incident.rev)];
    return (await applyCommit(this.context.redis, { at: 'save_incident', checks, writes })) ? next : null;
  }

  /** `detected → stopping`: asks the owner of the run to end it. A person's cancellation remains one. */
  async requestStop(session: AgentSession, incident: Incident, guard: Guard): Promise<Incident | null> {
    if (session.run === null || session.status !== 'active') return null;
    const now = this.clock.now();
    const stop = session.stop ?? {
      run_id: session.run.run_id,
      cause: 'incident',
      incident_id: incident.incident_id,
      requested_at: now,
    };
    return this.step('request_stop', session, { stop }, incident, { step: 'stopping', stopping_at: now }, guard, [
      wakeWrite(this.context.keys, { stop: session.session_id }),
    ]);
  }

  /**
   * `released → revived`: takes the claim of (project, chat, message), fails the session with its reason and puts the revival
   * at the lane's head, in one commit.
   */
  async revive(
    session: AgentSession,
    incident: Incident,
    endReason: string,
    patch: Partial<Incident>,
    guard: Guard,
  ): Promise<{ incident: Incident; revival: AgentSession } | null> {
    // A revival must never make two agents work in one directory.
    if (session.run !== null && session.released === null) return null;
    const { keys } = this.context;
    const now = this.clock.now();
    const message = keys.message(session.project_key, session.request.chat_id, session.request.message_id);
    const revival = revivalOf(session, now);
    const next = await this.step(
      'revive',
      session,
      { status: 'failed', end_reason: endReason, ended_at: now, revived_by: revival.session_id },
      incident,
      { ...patch, step: 'revived', revival_session_id: revival.session_id },
      [...guard, { read: ['HGET', message, 'claimed_by'], equals: null }],
      [
        ...laneReleaseWrites(keys, session, now),
        ['HSET', message, 'claimed_by', incident.incident_id, 'revival_id', revival.session_id],
        ['PERSIST', message],
        ...sessionWrites(keys, null, revival),
        ...laneEntryWrites(this.context, revival, 'LPUSH'),
      ],
    );
    return next === null ? null : { incident: next, revival };
  }

  /**
   * `… → told`: the session fails and its failure message is queued, in one commit. A run that is not proven dead keeps its
   * lane blocked.
   */
  async failAndTell(
    session: AgentSession,
    incident: Incident,
    endReason: string,
    text: string,
    patch: Partial<Incident>,
    guard: Guard,
  ): Promise<Incident | null> {
    const now = this.clock.now();
    const isGone = session.run === null || session.released !== null;
    return this.step(
      'fail_and_tell',
      session,
      { status: 'failed', end_reason: endReason, ended_at: now, request: { delivery: 'queued' } },
      incident,
      { ...patch, step: 'told' },
      guard,
      [
        ...(isGone ? laneReleaseWrites : laneBlockWrites)(this.context.keys, session, now),
        ...outboxWrites(this.context.keys, newOutboxEntry(session, 'failure', text, now)),
      ],
    );
  }

  /**
   * The run died before its agent made a call: the session goes back to its lane's head, as after an orderly interruption, and
   * that is the incident's outcome.
   */
  async putBack(session: AgentSession, incident: Incident, guard: Guard): Promise<Incident | null> {
    if (session.released === null || session.interruptions >= MOST_INTERRUPTIONS) return null;
    const { patch, writes } = interruptedChange(this.context, session, this.clock.now());
    const free = { ...patch, incident_id: null };
    return this.step('interrupt', session, free, incident, { outcome: 'put_back' }, guard, writes);
  }

  /**
   * The message had its end, and the store forgot it: the session ends so again, and that is the incident's outcome. A run that
   * is not proven dead keeps its lane blocked.
   */
  async endForgotten(session: AgentSession, incident: Incident, end: KnownEnd, guard: Guard): Promise<Incident | null> {
    const isGone = session.run === null || session.released !== null;
    const { patch, writes } = endedChange(this.context, session, end, isGone, this.clock.now());
    const outcome = OUTCOME_OF[end.kind];
    // The next session of the lane is not handled here: the lane's bridge is notified.
    const wake = wakeWrite(this.context.keys, { lane: session.lane });
    return this.step('complete_forgotten', session, patch, incident, { outcome }, guard, [...writes, wake]);
  }

  /** A person cancelled while the incident was open: the session ends as cancelled, and that is the incident's outcome. */
  async cancel(session: AgentSession, incident: Incident, text: string, guard: Guard): Promise<Incident | null> {
    const { patch, writes } = cancelledChange(this.context, session, text, this.clock.now());
    return this.step('cancel', session, patch, incident, { outcome: 'cancelled_by_person' }, guard, writes);
  }

  /** Releases the session of an incident that has its outcome; the incident stays open until everything is reported. */
  async free(
    session: AgentSession | null,
    incident: Incident,
    patch: Partial<Incident>,
    guard: Guard,
  ): Promise<Incident | null> {
    if (session?.incident_id !== incident.incident_id) return this.save(incident, patch, guard);
    return this.step('save_incident', session, { incident_id: null }, incident, patch, guard, []);
  }

  /** Ends the incident, and releases the session if it still names this incident. */
  async close(
    session: AgentSession | null,
    incident: Incident,
    outcome: IncidentOutcome,
    guard: Guard,
  ): Promise<Incident | null> {
    const now = this.clock.now();
    const patch = { step: 'closed', closed_at: now, outcome } as const;
    const name = await this.nameOf(incident);
    const checks = [...guard, ...name.checks];
    const writes = [...name.writes, ...this.closeWrites(incident, now)];
    if (session?.incident_id === incident.incident_id) {
      return this.step('close_incident', session, { incident_id: null }, incident, patch, checks, writes);
    }
    const next = this.next(incident, patch);
    const applied = await applyCommit(this.context.redis, {
      at: 'close_incident',
      checks: [...checks, ...this.unchanged(incident, incident.rev)],
      writes: [documentWrite(this.context.keys.incident(incident.incident_id), next), ...writes],
    });
    return applied ? next : null;
  }

  private async step(
    at: CommitName,
    session: AgentSession,
    sessionPatch: SessionPatch,
    incident: Incident,
    incidentPatch: Partial<Incident>,
    checks: readonly Check[],
    writes: readonly Write[],
  ): Promise<Incident | null> {
    const next = this.next(incident, incidentPatch);
    const changed = await changeSession(this.context, session, {
      at,
      patch: sessionPatch,
      checks: [...checks, ...this.unchanged(incident, incident.rev)],
      writes: [documentWrite(this.context.keys.incident(incident.incident_id), next), ...writes],
    });
    return changed === null ? null : next;
  }

  private next(incident: Incident, patch: Partial<Incident>): Incident {
    return { ...incident, ...patch, rev: incident.rev + 1 };
  }

  private unchanged(incident: Incident, rev: number | null): Check[] {
    return documentChecks(this.context.keys.incident(incident.incident_id), rev);
  }

  /** The writes that free the name of its subject, unless a later incident has it. */
  private async nameOf(incident: Incident): Promise<{ checks: Check[]; writes: Write[] }> {
    const { redis, keys } = this.context;
    const name = subjectName(incident);
    if (name === null) return { checks: [], writes: [] };
    const key = keys.incidentAbout(name);
    const owner = await redis.get(key);
    const writes: Write[] = owner === incident.incident_id ? [['DEL', key]] : [];
    return { checks: [{ read: ['GET', key], equals: owner }], writes };
  }

  private openWrites(incident: Incident): Write[] {
    const { keys } = this.context;
    return [
      documentWrite(keys.incident(incident.incident_id), incident),
      ['ZADD', keys.openIncidents, String(incident.opened_at), incident.incident_id],
      wakeWrite(keys, { incident: incident.incident_id }),
    ];
  }

  private closeWrites(incident: Incident, now: number): Write[] {
    const { keys } = this.context;
    return [
      ['ZREM', keys.openIncidents, incident.incident_id],
      ['ZADD', keys.closedIncidents, String(now), incident.incident_id],
    ];
  }
}
