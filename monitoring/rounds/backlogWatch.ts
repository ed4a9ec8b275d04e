/**
 * Watches the heads of all lanes. Opens and closes incidents about lanes and queues; the saga reports them, never through the
 * queue that they are about.
 *
 * A head that waits although a worker is free is an incident of its lane. If one cause keeps many waiting (no worker, a busy
 * host, or simply too many lanes at once), it is one incident of the project on that host, and one issue: five hundred lanes
 * are not five hundred faults. A lane that has an incident keeps it until its head is taken.
 */

import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import type { Finding } from '../../src/jobs/findings.js';
import type { Incident, IncidentSubject } from '../../src/jobs/incidents.js';
import { subjectName } from '../../src/jobs/names.js';
import type { LaneView } from '../../src/jobs/records.js';
import { SECOND } from '../../src/time.js';
import type { ActingContext } from '../actors/actedFolders.js';
import type { WatchdogLease } from '../actors/watchdogLease.js';
import { newIncident } from '../incident/newIncident.js';
import type { IncidentSaga } from '../incident/saga/saga.js';
import { logAccusation } from '../incident/texts/incidentEvents.js';
import { findBacklog, longestWaiting, type WaitingHead } from '../verdict/detectors/backlog.js';
import type { UnreadHead } from './unreadableRecords.js';
import { type WaitingGroup, type WaitingHeadsContext, waitingGroups } from './waitingHeads.js';

/** If more lanes of a project than this wait, they do not each have a reason of their own. */
const MOST_LANE_INCIDENTS = 5;
/** An ended incident waits this long for the end of its report. */
const CLOSING_PAUSE_MS = 5 * SECOND;

export interface BacklogContext extends WaitingHeadsContext, ActingContext {
  /** This watchdog acts on the incidents that it opens. */
  readonly lease: WatchdogLease;
  readonly saga: IncidentSaga;
}

export interface BacklogLook {
  readonly findings: ReadonlyMap<string, readonly Finding[]>;
  /** When the next head could have waited for too long, UTC epoch milliseconds; null if none could. */
  readonly nextLook: number | null;
  /** Waiting heads whose records could not be read. */
  readonly unread: readonly UnreadHead[];
}

/** A group that makes one incident. */
interface Stall {
  readonly subject: IncidentSubject;
  readonly head: WaitingHead;
  readonly finding: Finding;
}

export class BacklogWatch {
  readonly #context: BacklogContext;
  #open = 0;

  constructor(context: BacklogContext) {
    this.#context = context;
  }

  /** @returns the first instant at which a message that comes in from now on could have waited for too long, epoch ms */
  newcomersAt(): number {
    return this.#context.clock.now() + this.#context.backlogMs + 1;
  }

  /** @returns when a change in a lane may have ended an incident, UTC epoch milliseconds; null if none is open */
  mayBeOverAt(): number | null {
    return this.#open > 0 ? this.#context.clock.now() + SECOND : null;
  }

  /** @param act false only looks @param lanes of this host that are worth a look, if already known */
  async look(act: boolean, lanes?: readonly LaneView[]): Promise<BacklogLook> {
    const { store, gaps, folders, saga } = this.#context;
    const now = gaps.now();
    const { groups, deadline, unread } = await waitingGroups(this.#context, now, lanes);
    const known = (await store.records.openIncidents()).filter(
      ({ subject }) => subject?.kind === 'lane' || subject?.kind === 'queue',
    );
    const stalls = groups.flatMap((group) => this.#stallsOf(group, known, now));
    const findings = new Map(stalls.map(({ head, finding }) => [head.sessionId, [finding]]));
    if (!act) return { findings, nextLook: deadline, unread };
    for (const stall of stalls) if (incidentOf(stall, known) === null) await this.#report(stall);
    const ours = known.filter(({ logs_id }) => folders.actsFor(logs_id));
    const over = ours.filter((incident) => !stalls.some((stall) => incidentOf(stall, known) === incident));
    for (const { incident_id } of over) await saga.closeHealthy(incident_id);
    this.#open = stalls.length + over.length;
    return {
      findings,
      unread,
      nextLook: over.length === 0 ? deadline : Math.min(deadline ?? Infinity, now + CLOSING_PAUSE_MS),
    };
  }

  /** @returns the stalls that should be open now; an incident that is open already keeps its kind */
  #stallsOf({ host, worker, heads }: WaitingGroup, known: readonly Incident[], now: number): Stall[] {
    const at = { host, worker, limitMs: this.#context.backlogMs, now };
    const ofLane = (head: WaitingHead): Stall => ({
      subject: { kind: 'lane', lane: head.lane },
      head,
      finding: findBacklog([head], at),
    });
    const alone = heads.map(ofLane).filter((stall) => incidentOf(stall, known) !== null);
    const rest = heads.filter((head) => !alone.some((stall) => stall.head === head));
    if (rest.length === 0) return alone;
    const subject = { kind: 'queue', host } as const;
    const ofQueue: Stall = { subject, head: longestWaiting(rest, worker), finding: findBacklog(rest, at) };
    const isQueue = worker.kind !== 'free' || rest.length > MOST_LANE_INCIDENTS || incidentOf(ofQueue, known) !== null;
    return [...alone, ...(isQueue ? [ofQueue] : rest.map(ofLane))];
  }

  async #report({ subject, head, finding }: Stall): Promise<void> {
    const { store, clock, logger, folders, lease, saga } = this.#context;
    const session = await store.records.session(head.sessionId);
    if (session?.status !== 'pending') return;
    const draft = newIncident(clock, {
      session,
      findings: [finding],
      // Nothing runs, so there is nothing to end and nothing to revive.
      actions: { ...DEFAULT_ACTIONS, backlog: 'report' },
      toolCount: 0,
      lastToolCall: null,
    });
    const { logsId } = lease;
    const incident: Incident = { ...draft, subject, ...(logsId !== null && { logs_id: logsId }) };
    if (!(await store.incidents.openAbout(incident, folders.guard()))) return;
    logAccusation(logger, incident, incident.findings);
    saga.drive(incident.incident_id);
  }
}

/** An incident of a lane is about the head that it has now. */
function incidentOf({ subject, head }: Stall, known: readonly Incident[]): Incident | null {
  const name = subjectName({ subject, project_key: head.projectKey });
  const ofSubject = known.filter((incident) => subjectName(incident) === name);
  return ofSubject.find(({ session_id }) => subject.kind === 'queue' || session_id === head.sessionId) ?? null;
}
