/** Finds the heads of lanes that have waited for too long, and what each of them waits for. */
import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import type { ProjectRules } from '../../src/config/settings.js';
import { CorruptRecordError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { isOwnerAlive } from '../../src/host/lifeSign.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { LaneView } from '../../src/jobs/records.js';
import type { Store } from '../../src/jobs/store.js';
import { SECOND } from '../../src/time.js';
import type { KnownGaps } from '../lateness/knownGaps.js';
import { backlogFrom, type WaitingHead, type WorkerState } from '../verdict/detectors/backlog.js';
import type { UnreadHead } from './unreadableRecords.js';

/** Three canaries: a worker with a free slot that takes none for this long does not work. */
const DEAF_AFTER_MS = 90 * SECOND;

export interface WaitingHeadsContext {
  readonly store: Store;
  /** After a gap, the process that could have taken a message up has the whole time again. */
  readonly gaps: KnownGaps;
  readonly here: ProcessIdentity;
  readonly logsFolder: string;
  readonly backlogMs: number;
  /** Whether a directory of this host is there. */
  isFolder(path: string): Promise<boolean>;
  /** @returns null for a project that is not configured: the defaults apply to it */
  rulesOf(projectKey: string): ProjectRules | null;
}

/** The heads of one project on one host that have waited for too long. */
export interface WaitingGroup {
  readonly host: string;
  readonly projectKey: string;
  readonly worker: WorkerState;
  readonly heads: WaitingHead[];
}

/** @param ownLanes if already known @returns also when the next head could have waited for too long; null if none could */
export async function waitingGroups(context: WaitingHeadsContext, now: number, ownLanes?: readonly LaneView[]) {
  const { store, here, backlogMs, rulesOf } = context;
  const groups = new Map<string, WaitingGroup>();
  const unreadHeads: UnreadHead[] = [];
  let deadline: number | null = null;
  for (const host of new Set([here.host, ...(await store.records.hosts())])) {
    const known = host === here.host ? ownLanes : undefined;
    const { heads, unread } = await headsOf(context, known ?? (await store.records.lanesWorthALook(host)));
    if (heads.length === 0 && unread.length === 0) continue;
    const worker = await workerOf(context, host, now);
    // A host that a bridge serves has a watchdog of its own.
    if (host !== here.host && worker.kind !== 'gone' && worker.kind !== 'draining') continue;
    unreadHeads.push(...unread);
    for (const head of heads) {
      const { projectKey } = head;
      const from = backlogFrom(head, worker, backlogMs);
      if ((rulesOf(projectKey)?.actions ?? DEFAULT_ACTIONS).backlog === 'off') continue;
      // Behind a run the clock begins when the worker is gone: no later than this.
      if (from === null || from > now) deadline = Math.min(deadline ?? Infinity, from ?? now + backlogMs + 1);
      if (from === null || from > now) continue;
      const group = groups.get(`${host} ${projectKey}`) ?? { host, projectKey, worker, heads: [] };
      group.heads.push(host === here.host ? await withFolder(head, context) : head);
      groups.set(`${host} ${projectKey}`, group);
    }
  }
  return { groups: [...groups.values()], deadline, unread: unreadHeads };
}

async function headsOf({ gaps, store }: WaitingHeadsContext, worthALook: readonly LaneView[]) {
  const notBefore = gaps.lastEnd(null);
  const lanes = new Map<string, LaneView>();
  for (const lane of worthALook) if (lane.head !== null) lanes.set(lane.head, lane);
  const found = await store.records.sessions([...lanes.keys()]);
  const heads: WaitingHead[] = [];
  for (const session of found) {
    if (session instanceof CorruptRecordError) continue;
    const lane = lanes.get(session.session_id);
    lanes.delete(session.session_id);
    // The pump removes a head that does not wait from its lane.
    if (lane !== undefined && session.status === 'pending') heads.push(headOf(session, lane, notBefore));
  }
  return { heads, unread: [...lanes].map(([sessionId, { lane }]) => ({ sessionId, lane })) };
}

/** Looked at only for a head that has waited for too long. */
async function withFolder(head: WaitingHead, { isFolder }: WaitingHeadsContext): Promise<WaitingHead> {
  return { ...head, isFolderMissing: !(await isFolder(head.folder)) };
}

async function workerOf(
  { store, here, logsFolder }: WaitingHeadsContext,
  host: string,
  now: number,
): Promise<WorkerState> {
  const presence = await store.presences.ofHost(host);
  const isGone = presence === null || (await isOwnerAlive(presence.owner, here, logsFolder)) === false;
  if (presence === null || isGone) return { kind: 'gone', lastSeen: await store.presences.lastSeen(host) };
  if (presence.draining_since !== undefined) return { kind: 'draining' };
  if (presence.is_full) return { kind: 'busy' };
  const isDeaf = now - (presence.took_job_at ?? presence.started_at) > DEAF_AFTER_MS;
  return isDeaf ? { kind: 'deaf', tookJobAt: presence.took_job_at } : { kind: 'free' };
}

function headOf(session: AgentSession, { lane, holder, freeSince }: LaneView, notBefore: number): WaitingHead {
  return {
    sessionId: session.session_id,
    projectKey: session.project_key,
    lane,
    folder: session.working_directory,
    acceptedAt: Math.max(session.created_at, session.not_before ?? 0, notBefore),
    isLaneHeld: holder !== null,
    isFolderMissing: false,
    laneFreeSince: freeSince,
  };
}
