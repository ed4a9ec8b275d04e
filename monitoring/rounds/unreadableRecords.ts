/**
 * How the acting watchdog handles records that cannot be read: they are moved aside, whole, with a critical event and a message
 * to the chat, so that they block nothing for ever. A session's record is moved only once its run has certainly ended: a living
 * run renews its lease without reading the record, and its processes carry its mark.
 */

import { unreadable } from '../../src/errors.js';
import { hostOfLane } from '../../src/jobs/names.js';
import type { UnreadableSession } from '../../src/jobs/quarantine.js';
import type { ActingContext } from '../actors/actedFolders.js';
import type { WatchedRecord } from '../actors/watchedRecord.js';
import { noticeEvent } from '../events/notice.js';
import { FAILURE_PARAGRAPH } from '../incident/texts/chatTexts.js';
import type { KnownGaps } from '../lateness/knownGaps.js';
import { leaseEnd } from '../verdict/detectors/orphan.js';

export interface UnreadableContext extends ActingContext {
  readonly here: { readonly host: string };
  readonly runLeaseMs: number;
  readonly gaps: KnownGaps;
  /** @returns whether a lane may still hold a process of the run, as far as can be seen from here */
  mayHaveProcesses(lane: string, runId: string): Promise<boolean>;
}

const FAILURE_TEXT = `${FAILURE_PARAGRAPH}\n\nMy own note of this message became unreadable. Send the message again if I should start over.`;

/** First in its lane. */
export interface UnreadHead {
  readonly sessionId: string;
  /** Null if it waits in no known lane. */
  readonly lane: string | null;
}

/** The subject of its critical event. */
interface SetAside {
  readonly incident_id: string;
  /** The first for a session that failed because of it, the second for an incident. */
  readonly event: 'session_unrecoverable' | 'session_unhealthy';
  readonly session_id: string | null;
  readonly project_key: string | null;
}

export class UnreadableRecords {
  readonly #context: UnreadableContext;

  constructor(context: UnreadableContext) {
    this.#context = context;
  }

  /** @param readable the active ones that could be read */
  async setAside(sessionIds: readonly string[], readable: readonly WatchedRecord[], hasBrokenIncidents: boolean) {
    for (const id of sessionIds) await this.#setSessionAside(id, readable);
    if (!hasBrokenIncidents) return;
    const { redis, keys } = this.#context.store;
    for (const id of await redis.zrange(keys.openIncidents, '0', '-1')) await this.#setIncidentAside(id, readable);
  }

  /** @param heads first in their lanes, whose others wait until this is done; they may have no record at all */
  async setWaitingAside(heads: readonly UnreadHead[]): Promise<void> {
    const { store } = this.#context;
    for (const { sessionId, lane } of heads) {
      const found = await store.quarantine.look(sessionId, lane);
      // A session with a lease belongs to a run, or did: it is handled among the active ones.
      if (found === null || !found.waits || (await store.records.leaseUntil(sessionId)) !== null) continue;
      const session = await store.records.session(sessionId).catch(unreadable);
      if (session === 'unreadable') await this.#move(found, false);
    }
  }

  async #setSessionAside(sessionId: string, readable: readonly WatchedRecord[]): Promise<void> {
    const found = await this.#context.store.quarantine.look(sessionId);
    if (found === null || !(await this.#isRunOver(found))) return;
    const isHeldByAnother = readable.some(({ run }) => run !== null && run.run_id === found.holder);
    await this.#move(found, found.holder !== null && !isHeldByAnother);
  }

  async #move(found: UnreadableSession, freesLane: boolean): Promise<void> {
    const { store, logger, folders } = this.#context;
    const { sessionId, lane, fields } = found;
    if (lane !== null && !(await this.#isOurs(lane))) return;
    const key = store.keys.quarantine('session', sessionId);
    await this.#log(key, {
      incident_id: `unreadable-${sessionId}`,
      event: 'session_unrecoverable',
      session_id: sessionId,
      project_key: fields.project_key ?? null,
    });
    if (!(await store.quarantine.moveSession(found, FAILURE_TEXT, freesLane, folders.guard()))) return;
    const said = `session ${sessionId}: its record cannot be read and is kept as ${key}; the session has failed`;
    logger.error({ session_id: sessionId }, said);
  }

  /** Whether no other watchdog looks after the lane: a host with a bridge has its own. */
  async #isOurs(lane: string): Promise<boolean> {
    const { store, here } = this.#context;
    const host = hostOfLane(lane);
    return host === here.host || (await store.presences.ofHost(host)) === null;
  }

  async #setIncidentAside(incidentId: string, readable: readonly WatchedRecord[]): Promise<void> {
    const { store, logger, folders } = this.#context;
    if ((await store.records.incident(incidentId).catch(unreadable)) !== 'unreadable') return;
    const watched = readable.find(({ incident_id }) => incident_id === incidentId);
    const session = watched === undefined ? null : await store.records.session(watched.session_id);
    if (session !== null && session.incident_id !== incidentId) return;
    const key = store.keys.quarantine('incident', incidentId);
    await this.#log(key, {
      incident_id: incidentId,
      event: 'session_unhealthy',
      session_id: session?.session_id ?? null,
      project_key: session?.project_key ?? null,
    });
    if (!(await store.quarantine.moveIncident(incidentId, session, folders.guard()))) return;
    const said = `incident ${incidentId}: its record cannot be read and is kept as ${key}; its session is judged again`;
    logger.error({ incident_id: incidentId }, said);
  }

  async #isRunOver({ sessionId, lane, holder }: UnreadableSession): Promise<boolean> {
    const { store, gaps, runLeaseMs, mayHaveProcesses } = this.#context;
    const until = await store.records.leaseUntil(sessionId);
    const overAt = until === null ? null : leaseEnd(until, runLeaseMs, gaps.lastEnd(null));
    if (overAt !== null && gaps.now() <= overAt + runLeaseMs) return false;
    return lane === null || holder === null || !(await mayHaveProcesses(lane, holder));
  }

  /** Logged before the move, with an id that a repetition reuses; `key` is that under which the record is kept. */
  async #log(key: string, about: SetAside): Promise<void> {
    const { store, events, clock, folders } = this.#context;
    await store.leases.require(folders.guard());
    const step = about.event === 'session_unrecoverable' ? 'detected' : 'closed';
    const notice = { ...about, step, final: true, reason: 'record_unreadable', details: { kept_as: key } } as const;
    await events.logCriticalEvent(noticeEvent(notice, clock.now()));
  }
}
