/** The watchdog's transitions. Each checks its lease in the commit, so that a paused holder that wakes up late changes nothing. */
import { applyCommit, type Check } from '../redis/commit.js';
import { moveIncident, openedIncident, subjectFreed, subjectTaken } from './incidentChange.js';
import type { Incident, IncidentOutcome } from './incidents.js';
import { laneBlockWrites, laneEntryWrites } from './lanes.js';
import { type AgentSession, MOST_INTERRUPTIONS } from './model.js';
import { messageOf } from './names.js';
import { newOutboxEntry, revivalOf } from './newRecords.js';
import { changeSession, laneReleaseWrites, outboxWrites, sessionWrites, wakeWrite } from './sessionChange.js';
import { cancelledChange, endedChange, interruptedChange, type KnownEnd, OUTCOME_OF } from './sessionEnds.js';
import { StorePart } from './storePart.js';

/** The check in every commit of the acting watchdog; empty for the owner of a run that opens its own incident. */
export type Guard = readonly Check[];

export class IncidentTransitions extends StorePart {
  /** @returns whether it is the session's one open incident now; false if the session changed or has one already */
  async open(session: AgentSession, incident: Incident, guard: Guard): Promise<boolean> {
    if (session.incident_id !== null) return false;
    const { checks, writes } = openedIncident(this.context, incident);
    const patch = { incident_id: incident.incident_id };
    const change = { at: 'open_incident', patch, checks: [...guard, ...checks], writes } as const;
    return (await changeSession(this.context, session, change)) !== null;
  }

  /** At most one incident is open per subject that is no session's run. @returns whether this one is open now */
  async openAbout(incident: Incident, guard: Guard): Promise<boolean> {
    const subject = await subjectTaken(this.context, incident);
    if (subject === null) return false;
    const { checks, writes } = openedIncident(this.context, incident);
    return applyCommit(this.redis, {
      at: 'open_incident',
      checks: [...guard, ...checks, ...subject.checks],
      writes: [...writes, ...subject.writes],
    });
  }

  /** @returns the incident after a change that affects nothing else; null if another process was first */
  save(incident: Incident, patch: Partial<Incident>, guard: Guard): Promise<Incident | null> {
    return moveIncident(this.context, null, incident, { at: 'save_incident', patch, checks: guard });
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
    return moveIncident(this.context, session, incident, {
      at: 'request_stop',
      sessionPatch: { stop },
      patch: { step: 'stopping', stopping_at: now },
      checks: guard,
      writes: [wakeWrite(this.keys, { stop: session.session_id })],
    });
  }

  /** `released → revived`, in one commit: takes the message's claim, fails the session, and puts the revival at the lane's head. */
  async revive(
    session: AgentSession,
    incident: Incident,
    { endReason, guard }: { readonly endReason: string; readonly guard: Guard },
  ): Promise<{ incident: Incident; revival: AgentSession } | null> {
    // A revival must never make two agents work in one directory.
    if (session.run !== null && session.released === null) return null;
    const now = this.clock.now();
    const message = this.keys.message(...messageOf(session));
    const again = revivalOf(session, now);
    const revival = incident.conversation?.is_left === true ? { ...again, conversation_id: null } : again;
    const next = await moveIncident(this.context, session, incident, {
      at: 'revive',
      sessionPatch: { status: 'failed', end_reason: endReason, ended_at: now, revived_by: revival.session_id },
      patch: { step: 'revived', revival_session_id: revival.session_id },
      checks: [...guard, { read: ['HGET', message, 'claimed_by'], equals: null }],
      writes: [
        ...laneReleaseWrites(this.keys, session, now),
        ['HSET', message, 'claimed_by', incident.incident_id, 'revival_id', revival.session_id],
        ['PERSIST', message],
        ...sessionWrites(this.keys, null, revival),
        ...laneEntryWrites(this.context, revival, 'LPUSH'),
      ],
    });
    return next === null ? null : { incident: next, revival };
  }

  /** `… → told`: one commit queues the failure message. A run that is not proven dead keeps its lane blocked. */
  async fail(
    session: AgentSession,
    incident: Incident,
    { endReason, text, patch, guard }: { endReason: string; text: string; patch: Partial<Incident>; guard: Guard },
  ): Promise<Incident | null> {
    const now = this.clock.now();
    const isGone = session.run === null || session.released !== null;
    return moveIncident(this.context, session, incident, {
      at: 'fail_and_tell',
      sessionPatch: { status: 'failed', end_reason: endReason, ended_at: now, request: { delivery: 'queued' } },
      patch: { ...patch, step: 'told' },
      checks: guard,
      writes: [
        ...(isGone ? laneReleaseWrites : laneBlockWrites)(this.keys, session, now),
        ...outboxWrites(this.keys, newOutboxEntry(session, 'failure', text, now)),
      ],
    });
  }

  /** The run died before its agent can have done anything: the session goes back to its lane's head; that is the outcome. */
  async putBack(session: AgentSession, incident: Incident, guard: Guard): Promise<Incident | null> {
    if (session.released === null || session.interruptions >= MOST_INTERRUPTIONS) return null;
    const { patch, writes } = interruptedChange(this.context, session);
    return moveIncident(this.context, session, incident, {
      at: 'interrupt',
      sessionPatch: { ...patch, incident_id: null },
      patch: { outcome: 'put_back' },
      checks: guard,
      writes,
    });
  }

  /**
   * The store forgot the message's end: the session ends so again. A failure message is followed, as in {@link fail}, so that its
   * incident's lines say how it was delivered. A run that is not proven dead keeps its lane blocked.
   */
  async endForgotten(session: AgentSession, incident: Incident, end: KnownEnd, guard: Guard): Promise<Incident | null> {
    const isGone = session.run === null || session.released !== null;
    const { patch, writes } = endedChange(this.context, session, end, isGone);
    // The next session of the lane is not handled here: the lane's bridge is notified.
    const wake = wakeWrite(this.keys, { lane: session.lane });
    return moveIncident(this.context, session, incident, {
      at: 'complete_forgotten',
      sessionPatch: patch,
      patch: end.kind === 'failure' ? { step: 'told' } : { outcome: OUTCOME_OF[end.kind] },
      checks: guard,
      writes: [...writes, wake],
    });
  }

  /** A person cancelled while the incident was open: the session ends as cancelled, and that is the incident's outcome. */
  async cancel(session: AgentSession, incident: Incident, text: string, guard: Guard): Promise<Incident | null> {
    const { patch, writes } = cancelledChange(this.context, session, text);
    return moveIncident(this.context, session, incident, {
      at: 'cancel',
      sessionPatch: patch,
      patch: { outcome: 'cancelled_by_person' },
      checks: guard,
      writes,
    });
  }

  /** Releases the session of an incident that has its outcome; the incident stays open until everything is reported. */
  free(
    session: AgentSession | null,
    incident: Incident,
    patch: Partial<Incident>,
    guard: Guard,
  ): Promise<Incident | null> {
    return moveIncident(this.context, heldBy(incident, session), incident, {
      at: 'save_incident',
      sessionPatch: { incident_id: null },
      patch,
      checks: guard,
    });
  }

  /** Ends the incident, and releases the session if it still names this incident. */
  async close(
    session: AgentSession | null,
    incident: Incident,
    outcome: IncidentOutcome,
    guard: Guard,
  ): Promise<Incident | null> {
    const now = this.clock.now();
    const name = await subjectFreed(this.context, incident);
    return moveIncident(this.context, heldBy(incident, session), incident, {
      at: 'close_incident',
      sessionPatch: { incident_id: null },
      patch: { step: 'closed', closed_at: now, outcome },
      checks: [...guard, ...name.checks],
      writes: [
        ...name.writes,
        ['ZREM', this.keys.openIncidents, incident.incident_id],
        ['ZADD', this.keys.closedIncidents, String(now), incident.incident_id],
      ],
    });
  }
}

function heldBy(incident: Incident, session: AgentSession | null): AgentSession | null {
  return session?.incident_id === incident.incident_id ? session : null;
}
