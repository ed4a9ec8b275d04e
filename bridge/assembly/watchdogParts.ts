/** The judgement, built: the same parts inside the bridge and in the standby. */

import { join } from 'node:path';
import { ActedFolders } from '../../monitoring/actors/actedFolders.js';
import { WatchdogLease } from '../../monitoring/actors/watchdogLease.js';
import { daydream } from '../../monitoring/daydream/daydream.js';
import { DayZone } from '../../monitoring/daydream/dayZone.js';
import { DaydreamSchedule } from '../../monitoring/daydream/schedule.js';
import { WatchRecord } from '../../monitoring/daydream/watchRecord.js';
import { WatchTimes } from '../../monitoring/daydream/watchTimes.js';
import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import type { IssueRecord } from '../../monitoring/incident/issue/issueRecords.js';
import { IncidentDesk } from '../../monitoring/incident/saga/incidentDesk.js';
import { IncidentSaga } from '../../monitoring/incident/saga/saga.js';
import { latenessLimits } from '../../monitoring/lateness/standstill.js';
import { WatchdogGaps } from '../../monitoring/lateness/watchdogGaps.js';
import { answerInJournal } from '../../monitoring/rounds/answeredLocally.js';
import { BacklogWatch } from '../../monitoring/rounds/backlogWatch.js';
import { BlockedLaneWatch } from '../../monitoring/rounds/blockedLaneWatch.js';
import { type ExpiryContext, ExpiryRound } from '../../monitoring/rounds/expiryRound.js';
import { ForgottenIncidents } from '../../monitoring/rounds/forgottenIncidents.js';
import { RetentionRound } from '../../monitoring/rounds/retentionRound.js';
import { StrayRound } from '../../monitoring/rounds/strayRound.js';
import { UnreadableRecords } from '../../monitoring/rounds/unreadableRecords.js';
import { SessionWatchdog } from '../../monitoring/sessionWatchdog.js';
import { Agenda } from '../../monitoring/watch/agenda.js';
import { JudgedSessions } from '../../monitoring/watch/manySessions.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import { systemCounters } from '../../src/host/counters.js';
import { StoredIssueRecords } from '../../src/jobs/issueRecords.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { hostOfLane } from '../../src/jobs/names.js';
import type { Chat, WorkQueue } from '../../src/jobs/ports.js';
import type { Store } from '../../src/jobs/store.js';
import type { Wakes } from '../../src/jobs/wakes.js';
import type { Service } from '../../src/service.js';
import { OutsidePing } from '../health/outsidePing.js';
import { wasCutDown } from '../runs/cutDown.js';
import { StopMark } from '../runs/stopMark.js';
import type { ChatParts } from './chat.js';
import { eventsFileOf, type Foundation, reviewsFolderOf } from './foundation.js';
import { buildIncidentReporter } from './incidentReporter.js';
import { judgeContext } from './judging.js';
import { mayHaveProcesses, proveBlockedDead, proveDead } from './runProofs.js';

export interface WatchdogParts {
  readonly watchdog: SessionWatchdog;
  readonly lease: WatchdogLease;
  /** Started after the lease. One look stands in for nobody. */
  readonly folders: ActedFolders;
  readonly saga: IncidentSaga;
  /** Started before the lease. Where it is not, as for one look, it is judged by the journals as they are. */
  readonly pulse: Service;
  /** Started after the lease. One look notes itself. */
  readonly record: WatchRecord;
  /** What else the acting watchdog's process does by itself. */
  readonly chores: readonly Service[];
}

export interface WatchdogSurroundings {
  readonly store: Store;
  readonly wakes: Wakes;
  readonly queue: WorkQueue;
  readonly chat: Chat;
  readonly events: DurableEvents;
  /** Whether it gives way to the watchdog of a bridge on the same logs folder. */
  readonly standsBy: boolean;
  readonly endOnDisk: ChatParts['endOnDisk'];
  /** Aborted when the process stops: what is under way outside ends. */
  readonly stopping: AbortSignal;
  /** Whether the outside may hear that all is well; always, where it is not given. */
  readonly isPingDue?: () => Promise<boolean>;
  /** Called when this process begins to act. */
  onActing?(): void;
}

export function buildWatchdog(foundation: Foundation, surroundings: WatchdogSurroundings): WatchdogParts {
  const { settings, clock, logger, here } = foundation;
  const { store, wakes, queue, chat, events, endOnDisk, stopping } = surroundings;
  const agenda = new Agenda(clock);
  const gaps = buildPulse(foundation, store, events, agenda);
  const judge = judgeContext(foundation, store, gaps);
  const { leases } = store;
  const { watchdogLeaseMs: leaseMs } = settings.timings;
  const lease = new WatchdogLease({
    leases,
    clock,
    logger,
    logsFolder: settings.logsFolder,
    leaseMs,
    here,
    standsBy: surroundings.standsBy,
    gaps,
    onActing: () => {
      agenda.tick();
      surroundings.onActing?.();
    },
  });
  const folders = new ActedFolders({
    own: lease,
    leases,
    clock,
    logger,
    here,
    logsFolder: settings.logsFolder,
    ...settings.timings,
    runFolders: () => runFolders(judge.watched.all()),
    openIncidents: () => store.records.openIncidents(),
    onChange: () => agenda.tick(),
  });
  const guard = () => folders.guard();
  const issues = new StoredIssueRecords<IssueRecord>(
    store.redis,
    store.keys,
    join(settings.logsFolder, 'issue-marker-key'),
  );
  const stopMark = new StopMark(settings.logsFolder, here, logger);
  const saga = new IncidentSaga({
    store,
    clock,
    gaps,
    logger,
    timings: settings.timings,
    queue,
    chat,
    events,
    reporter: buildIncidentReporter(foundation, issues, events, stopping),
    folders,
    agenda,
    keptBack: (session) => keptBack(foundation, session),
    proveDead: (session) => proveDead(foundation, store, gaps, session),
    wasCutDown: (session) => wasCutDown(settings.logsFolder, readLogsFolderId(settings.logsFolder), session),
    endOnDisk,
    isAnsweredInJournal: async (session) =>
      (await answerInJournal(store.records, settings.logsFolder, session)) !== null,
    wasStopping: (session) => stopMark.tellsOf(session),
    hasWorked: (sessionId) => judge.watched.hasWorked(sessionId, clock.now()),
    sessions: new JudgedSessions(judge),
  });
  const desk = new IncidentDesk({ store, clock, logger, saga, folders, agenda });
  const backlog = new BacklogWatch({
    ...judge,
    logger,
    backlogMs: settings.timings.backlogMs,
    folders,
    lease,
    desk,
  });
  const ping =
    settings.pingUrl === null ? null : new OutsidePing(settings.pingUrl, clock, logger, surroundings.isPingDue);
  const unreadable = new UnreadableRecords({
    store,
    clock,
    logger,
    events,
    guard,
    runLeaseMs: settings.timings.runLeaseMs,
    gaps,
    isOurs: async (lane) => hostOfLane(lane) === here.host || (await store.presences.ofHost(hostOfLane(lane))) === null,
    mayHaveProcesses: (lane, runId) => mayHaveProcesses(foundation, lane, runId),
  });
  const watchdog = new SessionWatchdog({
    ...judge,
    logger,
    wakes,
    lease,
    folders,
    desk,
    agenda,
    queue,
    backlog,
    blockedLanes: new BlockedLaneWatch({
      store,
      clock,
      logger,
      events,
      folders,
      proveDead: (blocked) => proveBlockedDead(foundation, store, gaps, blocked),
    }),
    expiry: buildClearingUp(foundation, { store, issues, guard }),
    strays: new StrayRound({
      store,
      clock,
      logger,
      events,
      runLeaseMs: settings.timings.runLeaseMs,
      unreadable,
      forgottenIncidents: new ForgottenIncidents({
        store,
        clock,
        logger,
        events,
        eventsFile: eventsFileOf(settings),
        guard,
      }),
      guard,
    }),
    unreadable,
    cron: settings.watchdogCron,
    onTick: () => ping?.ping(),
  });
  const record = new WatchRecord({
    times: new WatchTimes(reviewsFolderOf(settings)),
    clock,
    logger,
    isActing: () => lease.isActing,
  });
  const chores = [record, ...scheduledDaydream(foundation, lease)];
  return { watchdog, lease, folders, saga, pulse: gaps, record, chores };
}

/** What ended long ago, in the store and in the logs folder. */
function buildClearingUp(
  { settings, clock, logger }: Foundation,
  parts: Pick<ExpiryContext, 'store' | 'issues' | 'guard'>,
): Pick<ExpiryRound, 'runIfDue'> {
  const { logsFolder, retention } = settings;
  const requireActing = () => parts.store.incidents.requireGuard(parts.guard());
  const expiry = new ExpiryRound({ ...parts, clock, logger, logsFolder, keptMs: retention.keptMs });
  const files = new RetentionRound({ clock, logger, logsFolder, retention, requireActing });
  return {
    async runIfDue() {
      await expiry.runIfDue();
      await files.runIfDue();
    },
  };
}

function runFolders(sessions: readonly Pick<AgentSession, 'run'>[]): Set<string> {
  return new Set(sessions.flatMap(({ run }) => (run?.logs_id === undefined ? [] : [run.logs_id])));
}

/** Whether a message is to be run again on another host than the one that was lost with its run. */
function keptBack({ settings, here }: Foundation, { project_key, run, released }: AgentSession): string | null {
  const isOfLostHost = released?.by === 'lease_over' && run !== null && run.owner.host !== here.host;
  if (!isOfLostHost || (settings.projects.get(project_key)?.reviveAfterHostLoss ?? true)) return null;
  return 'the host that worked on it was lost, and this project is set to run nothing again after that';
}

function buildPulse(
  { settings, clock, logger, here }: Foundation,
  store: Store,
  events: DurableEvents,
  agenda: Agenda,
): WatchdogGaps {
  const { logsFolder } = settings;
  return new WatchdogGaps({
    clock,
    counters: systemCounters,
    logger,
    events,
    store: store.gaps,
    logsFolder,
    here,
    get limits() {
      const thresholds = [...settings.projects.values()].map((project) => project.thresholds);
      return latenessLimits({ thresholds: [DEFAULT_THRESHOLDS, ...thresholds], ...settings.timings });
    },
    onGap: () => agenda.wakeUp(),
  });
}

function scheduledDaydream({ settings, clock, logger }: Foundation, lease: WatchdogLease): Service[] {
  if (settings.daydreamCron === null) return [];
  const reviewsFolder = reviewsFolderOf(settings);
  const zone = new DayZone(settings.daydreamTimeZone);
  return [
    new DaydreamSchedule({
      cron: settings.daydreamCron,
      zone,
      clock,
      logger,
      recordPath: join(reviewsFolder, 'schedule.json'),
      isActing: () => lease.isActing,
      run: () => daydream({ livePath: eventsFileOf(settings), reviewsFolder, clock, zone, date: null }),
    }),
  ];
}
