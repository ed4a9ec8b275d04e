/**
 * Looks at what waits: the heads of all lanes. Here incidents about lanes and queues are opened and closed; the saga tells of
 * them, and never through the queue that they are about.
 *
 * A head that waits although a worker is free is an incident of its lane. Where one cause keeps many waiting (no worker, a
 * busy host, or simply too many lanes at once) it is one incident of the project on that host, and one issue: five hundred
 * lanes are not five hundred faults. A lane that has an incident keeps it until its head is taken.
 */

import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import type { ProjectRules } from '../../src/config/settings.js';
import { CorruptRecordError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { isOwnerAlive } from '../../src/host/lifeSign.js';
import type { Finding } from '../../src/jobs/findings.js';
import type { Incident, IncidentSubject } from '../../src/jobs/incidents.js';
import type { Guard } from '../../src/jobs/incidentTransitions.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { LaneView } from '../../src/jobs/records.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import { type Clock, SECOND } from '../../src/time.js';
import type { ActedFolders } from '../actors/actedFolders.js';
import { newIncident } from '../incident/newIncident.js';
import { logAccusation } from '../incident/texts/incidentLog.js';
import type { KnownGaps } from '../lateness/knownGaps.js';
import {
  backlogFrom,
  findBacklog,
  longestWaiting,
  type WaitingHead,
  type WorkerState,
} from '../verdict/detectors/backlog.js';
import type { UnreadHead } from './unreadableRecords.js';

/** Three canaries: a worker with a free place that takes none for so long does not work. */
const DEAF_AFTER_MS = 90 * SECOND;
/** More lanes of a project than this do not wait each for a reason of its own. */
const MOST_LANE_INCIDENTS = 5;
/** An incident that is over waits for the end of its report. */
const CLOSING_PAUSE_MS = 5 * SECOND;

export interface BacklogContext {
  readonly store: Store;
  readonly clock: Clock;
  /** After one, whoever could have taken it up has the whole time again. */
  readonly gaps: Pick<KnownGaps, 'now' | 'lastEnd'>;
  readonly logger: Logger;
  readonly here: ProcessIdentity;
  readonly logsFolder: string;
  readonly backlogMs: number;
  /** @returns null for a project that is not configured: the defaults hold for it */
  rulesOf(projectKey: string): ProjectRules | null;
  guard(): Guard;
  readonly folders: Pick<ActedFolders, 'actsFor'>;
  /** The logs folder of this watchdog, which acts on the incidents that it opens; null before its lease began. */
  ownFolder(): string | null;
  /** Takes an incident as far as it gets, in the background. */
  drive(incidentId: string): void;
  /** Closes an incident that only reports, as soon as its report has ended. */
  closeHealthy(incidentId: string): Promise<void>;
}

export interface BacklogLookOptions {
  /** False only looks. */
  readonly act: boolean;
  /** Those of this host that are worth a look, where they are known already. */
  readonly lanes?: readonly LaneView[] | undefined;
}

export interface BacklogLook {
  /** By session: the head that waits, with what is wrong. */
  readonly findings: ReadonlyMap<string, readonly Finding[]>;
  /** When the next head could have waited for too long, UTC epoch milliseconds; null where none could. */
  readonly nextLook: number | null;
  /** Heads that wait and gave no record that can be read. */
  readonly unread: readonly UnreadHead[];
}

/** The heads of one project on one host for which the rule holds. */
interface Group {
  readonly host: string;
  readonly projectKey: string;
  readonly worker: WorkerState;
  readonly heads: WaitingHead[];
}

/** What is to be one incident. */
interface Stall {
  readonly subject: IncidentSubject;
  readonly head: WaitingHead;
  readonly finding: Finding;
}

export class BacklogWatch {
  private readonly context: BacklogContext;
  private open = 0;

  constructor(context: BacklogContext) {
    this.context = context;
  }

  /** @returns the first instant at which a message that comes in from now on could have waited for too long, epoch ms */
  newcomersAt(): number {
    return this.context.clock.now() + this.context.backlogMs + 1;
  }

  /**
   * Something changed in a lane.
   * @returns when an incident may be over by that, UTC epoch milliseconds; null where none is open
   */
  mayBeOverAt(): number | null {
    return this.open > 0 ? this.context.clock.now() + SECOND : null;
  }

  async look({ act, lanes }: BacklogLookOptions): Promise<BacklogLook> {
    const { store, gaps } = this.context;
    const now = gaps.now();
    const { groups, deadline, unread } = await this.groups(now, lanes);
    const known = (await store.records.openIncidents()).filter(({ subject }) => isOfLanes(subject));
    const stalls = groups.flatMap((group) => this.stallsOf(group, known, now));
    const findings = new Map(stalls.map(({ head, finding }) => [head.sessionId, [finding]]));
    if (!act) return { findings, nextLook: deadline, unread };
    for (const stall of stalls) if (incidentOf(stall, known) === null) await this.report(stall);
    const ours = known.filter(({ logs_id }) => this.context.folders.actsFor(logs_id));
    const over = ours.filter((incident) => !stalls.some((stall) => incidentOf(stall, known) === incident));
    for (const { incident_id } of over) await this.context.closeHealthy(incident_id);
    this.open = stalls.length + over.length;
    return {
      findings,
      unread,
      nextLook: over.length === 0 ? deadline : Math.min(deadline ?? Infinity, now + CLOSING_PAUSE_MS),
    };
  }

  private async groups(
    now: number,
    ownLanes?: readonly LaneView[],
  ): Promise<{ groups: Group[]; deadline: number | null; unread: UnreadHead[] }> {
    const { store, here, backlogMs, rulesOf } = this.context;
    const groups = new Map<string, Group>();
    const unreadHeads: UnreadHead[] = [];
    let deadline: number | null = null;
    for (const host of new Set([here.host, ...(await store.records.hosts())])) {
      const known = host === here.host ? ownLanes : undefined;
      const { heads, unread } = await this.heads(known ?? (await store.records.lanesWorthALook(host)));
      if (heads.length === 0 && unread.length === 0) continue;
      const worker = await this.workerOf(host, now);
      // A host that a bridge serves has a watchdog of its own.
      if (host !== here.host && worker.kind !== 'gone' && worker.kind !== 'draining') continue;
      unreadHeads.push(...unread);
      for (const head of heads) {
        const { projectKey } = head;
        const from = backlogFrom(head, worker, backlogMs);
        if ((rulesOf(projectKey)?.actions ?? DEFAULT_ACTIONS).backlog === 'off') continue;
        // Behind a run the clock begins when nobody is there any more: no later than this.
        if (from === null || from > now) deadline = Math.min(deadline ?? Infinity, from ?? now + backlogMs + 1);
        if (from === null || from > now) continue;
        const group = groups.get(`${host} ${projectKey}`) ?? { host, projectKey, worker, heads: [] };
        group.heads.push(head);
        groups.set(`${host} ${projectKey}`, group);
      }
    }
    return { groups: [...groups.values()], deadline, unread: unreadHeads };
  }

  private async heads(worthALook: readonly LaneView[]): Promise<{ heads: WaitingHead[]; unread: UnreadHead[] }> {
    const { gaps, store } = this.context;
    const notBefore = gaps.lastEnd(null);
    const lanes = new Map<string, LaneView>();
    for (const lane of worthALook) if (lane.head !== null) lanes.set(lane.head, lane);
    const found = await store.records.sessions([...lanes.keys()]);
    const heads: WaitingHead[] = [];
    for (const session of found) {
      if (session instanceof CorruptRecordError) continue;
      const lane = lanes.get(session.session_id);
      lanes.delete(session.session_id);
      // The pump takes one that does not wait off its lane.
      if (lane !== undefined && session.status === 'pending') heads.push(headOf(session, lane, notBefore));
    }
    return { heads, unread: [...lanes].map(([sessionId, { lane }]) => ({ sessionId, lane })) };
  }

  private async workerOf(host: string, now: number): Promise<WorkerState> {
    const { store, here, logsFolder } = this.context;
    const presence = await store.presences.ofHost(host);
    const isGone = presence === null || (await isOwnerAlive(presence.owner, here, logsFolder)) === false;
    if (presence === null || isGone) return { kind: 'gone', lastSeen: await store.presences.lastSeen(host) };
    if (presence.draining_since !== undefined) return { kind: 'draining' };
    if (presence.is_full) return { kind: 'busy' };
    const isDeaf = now - (presence.took_job_at ?? presence.started_at) > DEAF_AFTER_MS;
    return isDeaf ? { kind: 'deaf', tookJobAt: presence.took_job_at } : { kind: 'free' };
  }

  /** @returns what is to be open now; an incident that is open already stays what it is */
  private stallsOf({ host, projectKey, worker, heads }: Group, known: readonly Incident[], now: number): Stall[] {
    const { backlogMs } = this.context;
    const ofLane = (head: WaitingHead): Stall => ({
      subject: { kind: 'lane', lane: head.lane },
      head,
      finding: findBacklog([head], worker, host, backlogMs, now),
    });
    const [alone, rest] = partition(heads, (head) => incidentOf(ofLane(head), known) !== null);
    const stalls = alone.map(ofLane);
    if (rest.length === 0) return stalls;
    const ofQueue: Stall = {
      subject: { kind: 'queue', host },
      head: longestWaiting(rest, worker),
      finding: findBacklog(rest, worker, host, backlogMs, now),
    };
    const isQueue =
      worker.kind !== 'free' ||
      rest.length > MOST_LANE_INCIDENTS ||
      known.some(({ subject, project_key }) => isSame(subject, ofQueue.subject) && project_key === projectKey);
    return [...stalls, ...(isQueue ? [ofQueue] : rest.map(ofLane))];
  }

  private async report({ subject, head, finding }: Stall): Promise<void> {
    const { store, clock, logger, guard, drive, ownFolder } = this.context;
    const session = await store.records.session(head.sessionId);
    if (session?.status !== 'pending') return;
    const draft = newIncident(clock, {
      session,
      findings: [finding],
      // Nothing runs, so there is nothing to end and nothing to revive.
      actions: { ...DEFAULT_ACTIONS, backlog: 'report' },
      notRevivedBecause: null,
      untrustedExcerpt: null,
      toolCount: 0,
      lastToolCall: null,
    });
    const logsId = ownFolder();
    const incident: Incident = { ...draft, subject, ...(logsId !== null && { logs_id: logsId }) };
    if (!(await store.incidents.openAbout(incident, guard()))) return;
    logAccusation(logger, incident, incident.findings);
    drive(incident.incident_id);
  }
}

function headOf(session: AgentSession, { lane, holder, freeSince }: LaneView, notBefore: number): WaitingHead {
  return {
    sessionId: session.session_id,
    projectKey: session.project_key,
    lane,
    acceptedAt: Math.max(session.created_at, session.not_before ?? 0, notBefore),
    isLaneHeld: holder !== null,
    laneFreeSince: freeSince,
  };
}

/** An incident of a lane is about the head that it has now. */
function incidentOf({ subject, head }: Stall, known: readonly Incident[]): Incident | null {
  const found = known.find(
    (incident) =>
      isSame(incident.subject, subject) &&
      incident.project_key === head.projectKey &&
      (subject.kind === 'queue' || incident.session_id === head.sessionId),
  );
  return found ?? null;
}

function isOfLanes(subject: IncidentSubject | undefined): boolean {
  return subject?.kind === 'lane' || subject?.kind === 'queue';
}

function isSame(left: IncidentSubject | undefined, right: IncidentSubject): boolean {
  if (left?.kind === 'lane' && right.kind === 'lane') return left.lane === right.lane;
  return left?.kind === 'queue' && right.kind === 'queue' && left.host === right.host;
}

function partition<T>(all: readonly T[], holds: (one: T) => boolean): [T[], T[]] {
  return [all.filter(holds), all.filter((one) => !holds(one))];
}
