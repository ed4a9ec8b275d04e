/** Builds the actors: the watchdog's lease, the folders that it acts for, and the times when it was away itself. */
import { ActedFolders } from '../../monitoring/actors/actedFolders.js';
import { WatchdogLease } from '../../monitoring/actors/watchdogLease.js';
import type { DurableEvents } from '../../monitoring/events/durableEvents.js';
import { latenessLimits } from '../../monitoring/lateness/standstill.js';
import { WatchdogGaps } from '../../monitoring/lateness/watchdogGaps.js';
import { Agenda } from '../../monitoring/watch/agenda.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import { systemCounters } from '../../src/host/counters.js';
import type { WorkQueue } from '../../src/jobs/ports.js';
import type { Store } from '../../src/jobs/store.js';
import type { Wakes } from '../../src/jobs/wakes.js';
import type { ChatParts } from './chat.js';
import type { Foundation } from './foundation.js';
import { judgeContext } from './judging.js';

/** What the surrounding process provides to a watchdog. */
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
  /** Called when this process begins to act. */
  readonly onActing?: (() => void) | undefined;
}

export type WatchdogActors = ReturnType<typeof buildActors>;

export function buildActors(foundation: Foundation, { store, events, standsBy, onActing }: WatchdogSurroundings) {
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
