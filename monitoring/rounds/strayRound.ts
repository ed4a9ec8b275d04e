/**
 * Looks for records that nothing would ever bring to an end, and ends each with a reason in the log; a message that does not
 * end as it should is reported as a critical event. The acting watchdog's tick does a bounded round every five minutes.
 */

import { CorruptRecordError, describeError, FencedError, WatchkeeperError } from '../../src/errors.js';
import { firstAttemptId, revivalSessionId, timeOfUlid } from '../../src/ids.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { Stray } from '../../src/jobs/straySessions.js';
import { isOfMessage } from '../../src/journal/owner.js';
import { journalPath } from '../../src/journal/path.js';
import { Newest } from '../../src/newest.js';
import { isoTime, MINUTE } from '../../src/time.js';
import type { ActingContext } from '../actors/actedFolders.js';
import { Tail } from '../events/criticalEventTail.js';
import { noticeEvent, writeEvent } from '../events/notice.js';
import { CANCELLED_TEXT, FAILURE_PARAGRAPH } from '../incident/texts/chatTexts.js';
import type { UnreadableRecords } from './unreadableRecords.js';

const ROUND_EVERY_MS = 5 * MINUTE;
const WINDOW_BYTES = 8 * 1024 * 1024;
/** More than an outage has. */
const MOST_REVIVED = 1_000;
/** An hour of rounds. */
const MOST_TRIES = 12;
const TEXTS = { failed: FAILURE_PARAGRAPH, cancelled: CANCELLED_TEXT };

export interface StrayContext extends ActingContext {
  readonly runLeaseMs: number;
  readonly unreadable: UnreadableRecords;
  readonly eventsFile: string;
  readonly logsFolder: string;
  readonly reporter: ForgottenReporter;
}

interface ForgottenReporter {
  /** Says on the issue that the incident's record is lost, and what became of its message. Idempotent. @throws WatchkeeperError */
  noteForgotten(latest: CriticalEvent, end: 'answered' | 'cancelled' | 'unknown'): Promise<void>;
}

export class StrayRound {
  readonly #context: StrayContext;
  readonly #forgottenIncidents: ForgottenIncidents;
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(context: StrayContext) {
    this.#context = context;
    this.#forgottenIncidents = new ForgottenIncidents(context);
  }

  async runIfDue(): Promise<void> {
    const { clock, logger } = this.#context;
    if (clock.monotonic() < this.#dueAt) return;
    this.#dueAt = clock.monotonic() + ROUND_EVERY_MS;
    try {
      await this.runOnce();
    } catch (err) {
      if (err instanceof FencedError) return;
      logger.warn({ err }, `stray sessions will be checked again in five minutes: ${describeError(err)}`);
    }
  }

  async runOnce(): Promise<Stray[]> {
    const { store, logger, runLeaseMs, folders } = this.#context;
    const mended: Stray[] = [];
    for (const stray of await store.strays.find(runLeaseMs, TEXTS)) {
      // Before the commit: repeating it does no harm, but forgetting it would lose it.
      if (stray.lost !== undefined) await this.#report(stray, stray.lost);
      if (!(await store.strays.mend(stray, folders.guard()))) continue;
      mended.push(stray);
      logger.warn({ reason: stray.reason, id: stray.id }, `${stray.id} ${stray.end}`);
    }
    // Anywhere in the queue: a session in no lane is never a head.
    await this.#context.unreadable.setWaitingAside(store.strays.unread.map((sessionId) => ({ sessionId, lane: null })));
    await this.#forgottenIncidents.end();
    return mended;
  }

  async #report({ reason, id }: Stray, { sessionId, projectKey }: NonNullable<Stray['lost']>): Promise<void> {
    const { store, events, clock, logger, folders } = this.#context;
    await store.leases.require(folders.guard());
    const notice = {
      incident_id: `stray-${id}`,
      step: 'detected',
      final: true,
      event: 'session_unrecoverable',
      session_id: sessionId,
      project_key: projectKey,
      reason,
      details: null,
    } as const;
    await writeEvent(events, logger, noticeEvent(notice, clock.now()));
  }
}

/**
 * Incidents that have a line among the critical events but no end there, and whose records the store has lost, for example in a
 * rollback. Nothing drives them any more: without a last line, every reader of the file counts them as open for ever. A second
 * attempt that an incident had granted is stored again by the bridge that knew of it, or has begun a journal here, so its line is
 * written here as well.
 *
 * Limit: only the file's last 8 MiB are searched, some thousand lines.
 */
class ForgottenIncidents {
  readonly #context: StrayContext;
  readonly #tail: Tail;
  /** By incident: its latest line, if it has no end. */
  readonly #open = new Map<string, CriticalEvent>();
  /** Sessions whose second attempt has its line. */
  readonly #revived = new Newest<string, true>(MOST_REVIVED);
  /** How often an issue could not be changed, by incident. */
  readonly #tries = new Newest<string, number>(MOST_REVIVED);

  constructor(context: StrayContext) {
    this.#context = context;
    this.#tail = new Tail(context.eventsFile, WINDOW_BYTES);
  }

  /** Reads only lines appended since the last call. @throws ioredis' error; UnreachableError for the file; FencedError */
  async end(): Promise<void> {
    const { events, restarted } = await this.#tail.next();
    if (restarted) {
      this.#open.clear();
      this.#revived.clear();
    }
    for (const event of events) this.#note(event);
    // A record is stored before its first line is written, so a line without a record once had one.
    for (const event of [...this.#open.values()]) if (!(await this.#isStored(event))) await this.#end(event);
  }

  /** An event without a rule comes from elsewhere, and has no incident record. */
  #note(event: CriticalEvent): void {
    if (event.session_id !== null && event.id === `${event.incident_id}.revived`)
      this.#revived.set(event.session_id, true);
    if (event.final) this.#open.delete(event.incident_id);
    else if (event.rule !== null) this.#open.set(event.incident_id, event);
  }

  async #isStored({ incident_id }: CriticalEvent): Promise<boolean> {
    const { redis, keys } = this.#context.store;
    return (await redis.exists(keys.incident(incident_id), keys.quarantine('incident', incident_id))) > 0;
  }

  async #end(latest: CriticalEvent): Promise<void> {
    const { store, events, clock, logger, folders } = this.#context;
    const { incident_id, session_id, details } = latest;
    const timestamp = isoTime(clock.now());
    await store.leases.require(folders.guard());
    const revival_session_id = await this.#unreportedRevival(latest);
    if (revival_session_id !== null) {
      const action_taken = 'revival_attempted';
      const more = { timestamp, action_taken, details: { ...details, revival_session_id } } as const;
      const revived = { ...latest, ...more, id: `${incident_id}.revived` };
      await events.logCriticalEvent(revived);
      this.#note(revived);
    }
    // Without its last line, the incident is found again in the next round.
    if (!(await this.#isNotedOnIssue(latest))) return;
    await events.logCriticalEvent({
      ...latest,
      id: `${incident_id}.closed`,
      final: true,
      timestamp,
      action_taken: 'suppressed',
      details: { ...details, ...(revival_session_id && { revival_session_id }), outcome: 'record_gone' },
    });
    this.#open.delete(incident_id);
    logger.warn({ incident_id, session_id }, `incident ${incident_id} is closed: Redis has lost its record`);
  }

  /** @returns false if that is to be tried again */
  async #isNotedOnIssue(latest: CriticalEvent): Promise<boolean> {
    const { reporter, logger } = this.#context;
    const { incident_id, github_issue: url } = latest;
    if (url === null) return true;
    try {
      await reporter.noteForgotten(latest, await this.#endOf(latest));
      return true;
    } catch (err) {
      if (!(err instanceof WatchkeeperError) || err instanceof FencedError) throw err;
      const tries = (this.#tries.get(incident_id) ?? 0) + 1;
      this.#tries.set(incident_id, tries);
      if (err.retryable && tries < MOST_TRIES) return false;
      const said = `incident ${incident_id}: ${url} does not say that its record is lost, after ${tries} tries: ${describeError(err)}`;
      logger.error({ err, incident_id }, said);
      return true;
    }
  }

  async #endOf({ session_id }: CriticalEvent) {
    if (session_id === null) return 'unknown';
    const first = firstAttemptId(session_id);
    const [last] = await this.#context.store.records.sessions([revivalSessionId(first), first]);
    if (last === undefined || last instanceof CorruptRecordError) return 'unknown';
    return last.status === 'completed' ? 'answered' : last.status === 'cancelled' ? 'cancelled' : 'unknown';
  }

  /** @returns the second attempt that the store or its journal has, although no line says so; null if there is none */
  async #unreportedRevival({ event, session_id, incident_id }: CriticalEvent): Promise<string | null> {
    // An outage names one of its sessions, and grants nothing.
    if (event !== 'session_unhealthy' || session_id === null || this.#revived.has(session_id)) return null;
    const { store, logsFolder } = this.#context;
    const revivalId = revivalSessionId(session_id);
    const openedAt = timeOfUlid(incident_id);
    const hasBegun = openedAt !== null && isOfMessage(journalPath(logsFolder, revivalId), openedAt);
    const isGranted = hasBegun || (await store.redis.exists(store.keys.session(revivalId))) > 0;
    return isGranted && !(await this.#isAnothers(session_id, incident_id)) ? revivalId : null;
  }

  /** A later incident of the session says itself that it granted the second attempt, once that is stored. */
  async #isAnothers(session_id: string, incident_id: string): Promise<boolean> {
    const { redis, keys, records } = this.#context.store;
    const [session] = await records.sessions([session_id]);
    if (session === undefined || session instanceof CorruptRecordError || session.incident_id === null) return false;
    return session.incident_id !== incident_id && (await redis.exists(keys.incident(session.incident_id))) > 0;
  }
}
