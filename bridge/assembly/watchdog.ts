/** Builds the watchdog: the same parts inside the bridge and in the standby. */

import { join } from 'node:path';
import { readStep } from '../../memory/observed/step.js';
import { ActedFolders } from '../../monitoring/actors/actedFolders.js';
import { WatchdogLease } from '../../monitoring/actors/watchdogLease.js';
import { DailyReview } from '../../monitoring/daydream/daydream.js';
import { DayZone } from '../../monitoring/daydream/dayZone.js';
import { DaydreamSchedule } from '../../monitoring/daydream/schedule.js';
import { WatchRecord } from '../../monitoring/daydream/watchTimes.js';
import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import { ConfiguredIssues } from '../../monitoring/incident/issue/configuredIssues.js';
import type { IssueRecord, IssueRecords } from '../../monitoring/incident/issue/issueRecords.js';
import { RefusedTries } from '../../monitoring/incident/refusedTries.js';
import { IncidentReporter } from '../../monitoring/incident/saga/incidentReporter.js';
import { IncidentSaga } from '../../monitoring/incident/saga/saga.js';
import { latenessLimits } from '../../monitoring/lateness/standstill.js';
import { WatchdogGaps } from '../../monitoring/lateness/watchdogGaps.js';
import { answerInJournal } from '../../monitoring/rounds/answeredLocally.js';
import { BacklogWatch } from '../../monitoring/rounds/backlogWatch.js';
import { BlockedLaneWatch } from '../../monitoring/rounds/blockedLaneWatch.js';
import { ExpiryRound } from '../../monitoring/rounds/expiryRound.js';
import { RetentionRound } from '../../monitoring/rounds/retentionRound.js';
import { StrayRound } from '../../monitoring/rounds/strayRound.js';
import { UnreadableRecords } from '../../monitoring/rounds/unreadableRecords.js';
import { SessionWatchdog } from '../../monitoring/sessionWatchdog.js';
import { Agenda } from '../../monitoring/watch/agenda.js';
import { SessionJudge } from '../../monitoring/watch/sessionJudge.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import { isDirectory } from '../../src/config/servedPlaces.js';
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import { systemCounters } from '../../src/host/counters.js';
import { StoredIssueRecords } from '../../src/jobs/issueRecords.js';
import type { WorkQueue } from '../../src/jobs/ports.js';
import type { Store } from '../../src/jobs/store.js';
import type { Wakes } from '../../src/jobs/wakes.js';
import { journalPath } from '../../src/journal/path.js';
import type { Service } from '../../src/service.js';
import { OutsidePing } from '../health/outsidePing.js';
import { keptBack } from '../hosts/lostHosts.js';
import { wasCutDown, witnessHere } from '../runs/cutDown.js';
import { RunProofs } from '../runs/proof.js';
import { StopMark } from '../runs/stopMark.js';
import type { ChatParts } from './chat.js';
import { eventsFileOf, type Foundation, reviewsFolderOf } from './foundation.js';
import { judgeContext } from './judging.js';

/** The parts that the surrounding process provides to a watchdog. */
export interface WatchdogSurroundings {
  readonly store: Store;
  readonly wakes: Wakes;
  readonly queue: WorkQueue;
  readonly chat: ChatParts;
  readonly events: DurableEvents;
  /** Whether it gives way to the watchdog of a bridge on the same logs folder. */
  readonly standsBy: boolean;
  /** Aborted when the process stops: outside calls in progress end. */
  readonly stopping: AbortSignal;
  /** Whether the outside may be pinged that all is well; always, if missing. */
  readonly isPingDue?: () => Promise<boolean>;
  readonly onActing?: (() => void) | undefined;
}

/** @returns its parts; a single look starts only the lease, and makes its own note in the record */
export function buildWatchdog(foundation: Foundation, surroundings: WatchdogSurroundings) {
  const { settings, clock, logger, here } = foundation;
  const { logsFolder, timings, retention, pingUrl } = settings;
  const { store, wakes, queue, events, isPingDue } = surroundings;
  const actors = buildActors(foundation, surroundings);
  const { gaps, judge, lease, folders } = actors;
  const { runLeaseMs, backlogMs } = timings;
  const proofs = new RunProofs(judge);
  const issues = new StoredIssueRecords<IssueRecord>(store.redis, store.keys, join(logsFolder, 'issue-marker-key'));
  const reporter = buildReporter(foundation, surroundings, issues);
  const saga = buildSaga(foundation, surroundings, { ...actors, proofs, reporter });
  const shared = { store, clock, logger, events, folders };
  const mayHaveProcesses = (lane: string, runId: string) => proofs.mayHaveProcesses(lane, runId);
  const unreadable = new UnreadableRecords({ ...shared, here, runLeaseMs, gaps, mayHaveProcesses });
  const requireActing = () => store.leases.require(folders.guard());
  const ping = pingUrl === null ? null : new OutsidePing(pingUrl, clock, logger, isPingDue);
  const watchdog = new SessionWatchdog({
    ...judge,
    ...actors,
    logger,
    wakes,
    saga,
    queue,
    unreadable,
    backlog: new BacklogWatch({ ...judge, ...shared, backlogMs, lease, saga, isFolder: isDirectory }),
    blockedLanes: new BlockedLaneWatch(shared, (blocked) => proofs.ofBlocked(blocked)),
    rounds: [
      new StrayRound({ ...shared, runLeaseMs, unreadable, reporter, eventsFile: eventsFileOf(settings), logsFolder }),
      new ExpiryRound({ ...shared, issues, logsFolder, keptMs: retention.keptMs }),
      new RetentionRound({ clock, logger, logsFolder, retention, requireActing }),
    ],
    cron: settings.watchdogCron,
    onTick: () => void ping?.ping(),
  });
  const record = new WatchRecord(reviewsFolderOf(settings), clock, lease, logger);
  const services: Service[] = [gaps, lease, folders, watchdog, record, ...scheduledDaydream(foundation, lease)];
  const tryRefusedAgain = () => {
    saga.tryRefusedAgain();
    actors.agenda.tick();
  };
  return { watchdog, lease, gaps, saga, record, services, tryRefusedAgain };
}

/** The watchdog's lease, the folders that it acts for, and the times when it was away itself. */
function buildActors(foundation: Foundation, { store, events, standsBy, onActing }: WatchdogSurroundings) {
  const { settings, clock } = foundation;
  const { logsFolder, timings } = settings;
  const agenda = new Agenda(clock);
  const gaps = new WatchdogGaps({
    ...foundation,
    counters: systemCounters,
    events,
    store: store.gaps,
    logsFolder,
    get limits() {
      const thresholds = [...settings.projects.values()].map((project) => project.thresholds);
      return latenessLimits({ thresholds: [DEFAULT_THRESHOLDS, ...thresholds], ...timings });
    },
    onGap: () => agenda.wakeUp(),
  });
  const shared = { ...foundation, leases: store.leases, logsFolder };
  const lease = new WatchdogLease({
    ...shared,
    leaseMs: timings.watchdogLeaseMs,
    standsBy,
    gaps,
    onActing: () => {
      agenda.tick();
      onActing?.();
    },
  });
  const judge = judgeContext(foundation, store, gaps);
  const folders = new ActedFolders({
    ...shared,
    ...timings,
    own: lease,
    runFolders: () => judge.watched.runFolders(),
    openIncidents: () => store.records.openIncidents(),
    onChange: () => agenda.tick(),
  });
  return { agenda, gaps, judge, lease, folders };
}

function buildReporter(
  foundation: Foundation,
  { store, events, stopping }: WatchdogSurroundings,
  records: IssueRecords,
): IncidentReporter {
  const { settings, clock } = foundation;
  const noted = { troubles: store.reportTroubles, events };
  const issues = new ConfiguredIssues({ ...foundation, records, stopping, noted });
  return new IncidentReporter(clock, settings.logsFolder, issues, events);
}

/** The parts that act on a finding: the saga of each incident. */
function buildSaga(
  foundation: Foundation,
  { store, queue, chat, events }: WatchdogSurroundings,
  given: ReturnType<typeof buildActors> & { readonly proofs: RunProofs; readonly reporter: IncidentReporter },
): IncidentSaga {
  const { settings, clock, logger, here } = foundation;
  const { logsFolder, timings } = settings;
  const { agenda, gaps, judge, folders, proofs, reporter } = given;
  const stopMark = new StopMark(logsFolder, here, logger);
  return new IncidentSaga({
    ...foundation,
    store,
    gaps,
    timings,
    queue,
    events,
    folders,
    agenda,
    chat: chat.router,
    reporter,
    keptBack: (session) => keptBack(settings, session),
    proveDead: (session) => proofs.ofSession(session),
    wasCutDown: (session) => wasCutDown(witnessHere(settings, here, readLogsFolderId(logsFolder)), session),
    endOnDisk: chat.endOnDisk,
    isAnsweredInJournal: async (session) => (await answerInJournal(store.records, logsFolder, session)) !== null,
    wasStopping: (session) => stopMark.wasStopping(session),
    hasWorked: (sessionId) => judge.watched.hasWorked(sessionId, clock.now()),
    stepOf: (sessionId) => readStep(journalPath(logsFolder, sessionId)),
    sessions: new SessionJudge(judge),
    refusedTries: new RefusedTries(),
  });
}

function scheduledDaydream({ settings, clock, logger }: Foundation, lease: WatchdogLease): Service[] {
  const { daydreamCron: cron } = settings;
  if (cron === null) return [];
  const zone = new DayZone(settings.daydreamTimeZone);
  const review = new DailyReview(eventsFileOf(settings), reviewsFolderOf(settings), zone, clock);
  return [new DaydreamSchedule(cron, review, lease, logger)];
}
