/** Builds the actors: the watchdog's lease, the folders that it acts for, and the times when it was away itself. */
import { ActedFolders } from '../../monitoring/actors/actedFolders.js';
import { WatchdogLease } from '../../monitoring/actors/watchdogLease.js';
import { latenessLimits } from '../../monitoring/lateness/standstill.js';
import { WatchdogGaps } from '../../monitoring/lateness/watchdogGaps.js';
import { Agenda } from '../../monitoring/watch/agenda.js';
import type { JudgeContext } from '../../monitoring/watch/sessionJudge.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import { systemCounters } from '../../src/host/counters.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Foundation } from './foundation.js';
import { judgeContext } from './judging.js';
import type { WatchdogSurroundings } from './watchdogSurroundings.js';

export interface WatchdogActors {
  readonly agenda: Agenda;
  readonly gaps: WatchdogGaps;
  readonly judge: JudgeContext;
  readonly lease: WatchdogLease;
  readonly folders: ActedFolders;
}

export function buildActors(foundation: Foundation, surroundings: WatchdogSurroundings): WatchdogActors {
  const { settings, clock, logger, here } = foundation;
  const { logsFolder, timings } = settings;
  const { store } = surroundings;
  const agenda = new Agenda(clock);
  const gaps = buildGaps(foundation, surroundings, agenda);
  const shared = { leases: store.leases, clock, logger, here, logsFolder };
  const lease = new WatchdogLease({
    ...shared,
    leaseMs: timings.watchdogLeaseMs,
    standsBy: surroundings.standsBy,
    gaps,
    onActing: () => {
      agenda.tick();
      surroundings.onActing?.();
    },
  });
  const judge = judgeContext(foundation, store, gaps);
  const folders = new ActedFolders({
    ...shared,
    ...timings,
    own: lease,
    runFolders: () => runFolders(judge.watched.all()),
    openIncidents: () => store.records.openIncidents(),
    onChange: () => agenda.tick(),
  });
  return { agenda, gaps, judge, lease, folders };
}

function buildGaps(
  { settings, clock, logger, here }: Foundation,
  { store, events }: WatchdogSurroundings,
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

function runFolders(sessions: readonly Pick<AgentSession, 'run'>[]): Set<string> {
  return new Set(sessions.flatMap(({ run }) => (run?.logs_id === undefined ? [] : [run.logs_id])));
}
