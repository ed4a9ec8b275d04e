/** Builds the watchdog's rounds beside its look at sessions: lanes, strays, unreadable records, and old data. */
import { BacklogWatch } from '../../monitoring/rounds/backlogWatch.js';
import { BlockedLaneWatch } from '../../monitoring/rounds/blockedLaneWatch.js';
import { type ExpiryContext, ExpiryRound } from '../../monitoring/rounds/expiryRound.js';
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

export type WatchdogRounds = Pick<WatchdogContext, 'backlog' | 'blockedLanes' | 'expiry' | 'strays' | 'unreadable'>;

export function buildRounds(
  foundation: Foundation,
  surroundings: WatchdogSurroundings,
  { gaps, judge, lease, folders }: WatchdogActors,
  { desk, issues }: WatchdogIncidents,
): WatchdogRounds {
  const { settings, clock, logger, here } = foundation;
  const { store, events } = surroundings;
  const { runLeaseMs, backlogMs } = settings.timings;
  const guard = () => folders.guard();
  const shared = { store, clock, logger, events, guard };
  const unreadable = new UnreadableRecords({
    ...shared,
    runLeaseMs,
    gaps,
    isOurs: async (lane) => hostOfLane(lane) === here.host || (await store.presences.ofHost(hostOfLane(lane))) === null,
    mayHaveProcesses: (lane, runId) => mayHaveProcesses(foundation, lane, runId),
  });
  const forgottenIncidents = new ForgottenIncidents({ ...shared, eventsFile: eventsFileOf(settings) });
  return {
    unreadable,
    backlog: new BacklogWatch({ ...judge, logger, backlogMs, folders, lease, desk }),
    blockedLanes: new BlockedLaneWatch({
      ...shared,
      folders,
      proveDead: (blocked) => proveBlockedDead(foundation, store, gaps, blocked),
    }),
    expiry: buildClearingUp(foundation, { store, issues, guard }),
    strays: new StrayRound({ ...shared, runLeaseMs, unreadable, forgottenIncidents }),
  };
}

/** Removes what ended long ago, in the store and in the logs folder. */
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
