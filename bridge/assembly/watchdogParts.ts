/** Builds the watchdog: the same parts inside the bridge and in the standby. */

import { join } from 'node:path';
import type { ActedFolders } from '../../monitoring/actors/actedFolders.js';
import type { WatchdogLease } from '../../monitoring/actors/watchdogLease.js';
import { daydream } from '../../monitoring/daydream/daydream.js';
import { DayZone } from '../../monitoring/daydream/dayZone.js';
import { DaydreamSchedule } from '../../monitoring/daydream/schedule.js';
import { WatchRecord } from '../../monitoring/daydream/watchRecord.js';
import { WatchTimes } from '../../monitoring/daydream/watchTimes.js';
import type { IncidentSaga } from '../../monitoring/incident/saga/saga.js';
import { SessionWatchdog } from '../../monitoring/sessionWatchdog.js';
import type { Service } from '../../src/service.js';
import { OutsidePing } from '../health/outsidePing.js';
import { eventsFileOf, type Foundation, reviewsFolderOf } from './foundation.js';
import { buildActors } from './watchdogActors.js';
import { buildIncidents } from './watchdogIncidents.js';
import { buildRounds } from './watchdogRounds.js';
import type { WatchdogSurroundings } from './watchdogSurroundings.js';

export interface WatchdogParts {
  readonly watchdog: SessionWatchdog;
  readonly lease: WatchdogLease;
  /** Started after the lease. A single look acts for no other folder. */
  readonly folders: ActedFolders;
  readonly saga: IncidentSaga;
  /** Started before the lease. Without it, as in a single look, the journals count as they are. */
  readonly pulse: Service;
  /** Started after the lease. A single look makes its own note. */
  readonly record: WatchRecord;
  /** Further services of the acting watchdog's process. */
  readonly chores: readonly Service[];
}

export function buildWatchdog(foundation: Foundation, surroundings: WatchdogSurroundings): WatchdogParts {
  const { settings, clock, logger } = foundation;
  const { wakes, queue, isPingDue } = surroundings;
  const actors = buildActors(foundation, surroundings);
  const { agenda, gaps, judge, lease, folders } = actors;
  const incidents = buildIncidents(foundation, surroundings, actors);
  const { saga } = incidents;
  const rounds = buildRounds(foundation, surroundings, actors, incidents);
  const ping = settings.pingUrl === null ? null : new OutsidePing(settings.pingUrl, clock, logger, isPingDue);
  const watchdog = new SessionWatchdog({
    ...judge,
    ...rounds,
    logger,
    wakes,
    lease,
    folders,
    saga,
    agenda,
    queue,
    cron: settings.watchdogCron,
    onTick: () => ping?.ping(),
  });
  const times = new WatchTimes(reviewsFolderOf(settings));
  const record = new WatchRecord({ times, clock, logger, isActing: () => lease.isActing });
  const chores = [record, ...scheduledDaydream(foundation, lease)];
  return { watchdog, lease, folders, saga, pulse: gaps, record, chores };
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
