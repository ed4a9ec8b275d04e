/** Builds the part that does the bridge's work: from the lanes to running agents, and the cleanup after a predecessor. */
import type { Redis } from 'ioredis';
import { Canaries } from '../queue/canary.js';
import { LaneStarter } from '../queue/laneStarter.js';
import { SessionWorker } from '../queue/worker.js';
import { CleanStart } from '../runs/cleanStart.js';
import { DirectoryWatch } from '../runs/directoryWatch.js';
import type { ForgottenNotice } from '../runs/forgottenNotice.js';
import { proveRunDead } from '../runs/proof.js';
import { Reaper } from '../runs/reaper.js';
import type { Runner } from '../runs/runner.js';
import { StopMark } from '../runs/stopMark.js';
import type { ChatParts } from './chat.js';
import type { Foundation } from './foundation.js';
import type { BridgeStores } from './ground.js';
import type { ServedAgents } from './reloading.js';
import { buildRunner, endProcesses } from './runs.js';

export interface WorkSurroundings {
  readonly stores: BridgeStores;
  readonly chat: ChatParts;
  readonly agents: ServedAgents;
  readonly forgotten: ForgottenNotice;
  /** For the worker alone: it blocks. */
  readonly connection: Redis;
  /** Aborts as soon as the bridge is asked to stop, before its runs are. */
  readonly leaving: AbortSignal;
}

export interface Work {
  readonly reaper: Reaper;
  readonly stopMark: StopMark;
  readonly lanes: LaneStarter;
  readonly directories: DirectoryWatch;
  readonly runner: Runner;
  readonly worker: SessionWorker;
  readonly canaries: Canaries;
  readonly cleanStart: CleanStart;
}

export function buildWork(foundation: Foundation, surroundings: WorkSurroundings): Work {
  const { settings, clock, logger } = foundation;
  const { stores, chat, agents, forgotten, connection, leaving } = surroundings;
  const { store, queue, wakes, logsId } = stores;
  const { runLeaseMs, killGraceMs, stallMs } = settings.timings;
  const notify = (sentence: string) => logger.warn(sentence);
  const reaper = new Reaper({ clock, leaseMs: runLeaseMs, graceMs: killGraceMs, notify });
  const lanes = new LaneStarter({ queue, clock, logger, onForgotten: forgotten.note });
  const onBack = () => void lanes.startAll();
  const directories = new DirectoryWatch({ settings, store, clock, logger, chat: chat.router, onBack });
  const runner = buildRunner(foundation, {
    logsId,
    store,
    wakes,
    queue,
    lanes,
    display: chat.progress,
    chat: chat.router,
    reaper,
    endOnDisk: chat.endOnDisk,
    forgotten,
    leaving,
    directories,
    agents,
  });
  const worker = new SessionWorker({
    host: settings.host,
    bullPrefix: store.keys.bullPrefix,
    connection,
    concurrency: settings.agentConcurrency,
    logger,
    onJobLost: () => lanes.startAllSoon(),
    clock,
    runner,
  });
  const canaries = new Canaries({ queue, worker, clock, logger, stallMs });
  const stopMark = new StopMark(settings.logsFolder, foundation.here, logger);
  const cleanStart = buildCleanStart(foundation, surroundings, stopMark);
  return { reaper, stopMark, lanes, directories, runner, worker, canaries, cleanStart };
}

function buildCleanStart(foundation: Foundation, { stores, chat }: WorkSurroundings, stopMark: StopMark): CleanStart {
  const { logger, here, clock, settings } = foundation;
  const { store, queue, logsId } = stores;
  const { logsFolder } = settings;
  return new CleanStart({
    store,
    queue,
    stopMark,
    logger,
    here,
    logsFolder,
    logsId,
    proveDead: (run) => proveRunDead(run, here, { clock, logsFolder }),
    endProcesses: (target) => endProcesses(foundation, target),
    endOnDisk: chat.endOnDisk,
  });
}
