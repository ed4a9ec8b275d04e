/** Builds the watchdog's rounds beside its look at sessions: lanes, strays, unreadable records, and old data. */
import { BacklogWatch } from '../../monitoring/rounds/backlogWatch.js';
import { BlockedLaneWatch } from '../../monitoring/rounds/blockedLaneWatch.js';
import { ExpiryRound } from '../../monitoring/rounds/expiryRound.js';
import { ForgottenIncidents } from '../../monitoring/rounds/forgottenIncidents.js';
import { RetentionRound } from '../../monitoring/rounds/retentionRound.js';
import { StrayRound } from '../../monitoring/rounds/strayRound.js';
import { UnreadableRecords } from '../../monitoring/rounds/unreadableRecords.js';
import type { WatchdogContext } from '../../monitoring/sessionWatchdog.js';
import { hostOfLane } from '../../src/jobs/names.js';
import { eventsFileOf, type Foundation } from './foundation.js';
import { mayHaveProcesses, proveBlockedDead } from './runProofs.js';
import type { WatchdogActors } from './watchdogActors.js';
import type { WatchdogIncidents } from './watchdogIncidents.js';
import type { WatchdogSurroundings } from './watchdogSurroundings.js';

export type WatchdogRounds = Pick<WatchdogContext, 'backlog' | 'blockedLanes' | 'rounds' | 'unreadable'>;

export function buildRounds(
  foundation: Foundation,
  surroundings: WatchdogSurroundings,
  { gaps, judge, lease, folders }: WatchdogActors,
  { saga, issues }: WatchdogIncidents,
): WatchdogRounds {
  const { settings, clock, logger, here } = foundation;
  const { store, events } = surroundings;
  const { logsFolder, retention } = settings;
  const { runLeaseMs, backlogMs } = settings.timings;
  const shared = { store, clock, logger, events, folders };
  const unreadable = new UnreadableRecords({
    ...shared,
    runLeaseMs,
    gaps,
    isOurs: async (lane) => hostOfLane(lane) === here.host || (await store.presences.ofHost(hostOfLane(lane))) === null,
    mayHaveProcesses: (lane, runId) => mayHaveProcesses(foundation, lane, runId),
  });
  const forgottenIncidents = new ForgottenIncidents(shared, eventsFileOf(settings));
  const requireActing = () => store.leases.require(folders.guard());
  return {
    unreadable,
    backlog: new BacklogWatch({ ...judge, logger, backlogMs, folders, lease, saga }),
    blockedLanes: new BlockedLaneWatch(shared, (blocked) => proveBlockedDead(foundation, store, gaps, blocked)),
    rounds: [
      new StrayRound({ ...shared, runLeaseMs, unreadable, forgottenIncidents }),
      new ExpiryRound({ ...shared, issues, logsFolder, keptMs: retention.keptMs }),
      new RetentionRound({ clock, logger, logsFolder, retention, requireActing }),
    ],
  };
}
