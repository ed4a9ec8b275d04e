/** Builds the watchdog: the same parts inside the bridge and in the standby. */

import { join } from 'node:path';
import type { WatchdogLease } from '../../monitoring/actors/watchdogLease.js';
import { DailyReview } from '../../monitoring/daydream/daydream.js';
import { DayZone } from '../../monitoring/daydream/dayZone.js';
import { DaydreamSchedule } from '../../monitoring/daydream/schedule.js';
import { WatchRecord } from '../../monitoring/daydream/watchTimes.js';
import type { IssueRecord } from '../../monitoring/incident/issue/issueRecords.js';
import { BacklogWatch } from '../../monitoring/rounds/backlogWatch.js';
import { BlockedLaneWatch } from '../../monitoring/rounds/blockedLaneWatch.js';
import { ExpiryRound } from '../../monitoring/rounds/expiryRound.js';
import { RetentionRound } from '../../monitoring/rounds/retentionRound.js';
import { StrayRound } from '../../monitoring/rounds/strayRound.js';
import { UnreadableRecords } from '../../monitoring/rounds/unreadableRecords.js';
import { SessionWatchdog } from '../../monitoring/sessionWatchdog.js';
import { StoredIssueRecords } from '../../src/jobs/issueRecords.js';
import type { Service } from '../../src/service.js';
import { OutsidePing } from '../health/outsidePing.js';
import { RunProofs } from '../runs/proof.js';
import { eventsFileOf, type Foundation, reviewsFolderOf } from './foundation.js';
import { buildActors, type WatchdogSurroundings } from './watchdogActors.js';
import { buildSaga } from './watchdogSaga.js';

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
  const saga = buildSaga(foundation, surroundings, { ...actors, proofs, issues });
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
    backlog: new BacklogWatch({ ...judge, logger, backlogMs, folders, lease, saga }),
    blockedLanes: new BlockedLaneWatch(shared, (blocked) => proofs.ofBlocked(blocked)),
    rounds: [
      new StrayRound({ ...shared, runLeaseMs, unreadable, eventsFile: eventsFileOf(settings) }),
      new ExpiryRound({ ...shared, issues, logsFolder, keptMs: retention.keptMs }),
      new RetentionRound({ clock, logger, logsFolder, retention, requireActing }),
    ],
    cron: settings.watchdogCron,
    onTick: () => void ping?.ping(),
  });
  const record = new WatchRecord(reviewsFolderOf(settings), clock, lease, logger);
  const services: Service[] = [gaps, lease, folders, watchdog, record, ...scheduledDaydream(foundation, lease)];
  return { watchdog, lease, saga, record, services };
}

function scheduledDaydream({ settings, clock, logger }: Foundation, lease: WatchdogLease): Service[] {
  const { daydreamCron: cron } = settings;
  if (cron === null) return [];
  const zone = new DayZone(settings.daydreamTimeZone);
  const review = new DailyReview(eventsFileOf(settings), reviewsFolderOf(settings), zone, clock);
  return [new DaydreamSchedule(cron, review, lease, logger)];
}
