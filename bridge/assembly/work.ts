/** Builds the part that does the bridge's work: from the lanes to running agents, and the cleanup after a predecessor. */
import type { Redis } from 'ioredis';
import type { Wakes } from '../../src/jobs/wakes.js';
import type { ServedAgents } from '../agents/registry.js';
import { Canaries } from '../queue/canary.js';
import { LaneStarter } from '../queue/laneStarter.js';
import type { JobQueue } from '../queue/pump.js';
import { SessionWorker } from '../queue/worker.js';
import { AcceptedRounds } from '../runs/acceptedRounds.js';
import { DirectoryWatch } from '../runs/directoryWatch.js';
import { endProcesses } from '../runs/endRun.js';
import type { ForgottenNotice } from '../runs/forgottenNotice.js';
import { LostMessages } from '../runs/lostMessages.js';
import { MissedEnds } from '../runs/missedEnds.js';
import { CleanStart } from '../runs/predecessors.js';
import { Reaper } from '../runs/reaper.js';
import type { RunContext, RunSurroundings } from '../runs/runContext.js';
import { Runner } from '../runs/runner.js';
import type { RunTarget } from '../runs/runProcesses.js';
import { StopMark } from '../runs/stopMark.js';
import { WaitingWords } from '../runs/waitingWords.js';
import type { ChatParts } from './chat.js';
import type { Foundation } from './foundation.js';
import type { BridgeStores } from './ground.js';

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

export type Work = ReturnType<typeof buildWork>;

export function buildWork(foundation: Foundation, { stores, chat, ...given }: WorkSurroundings) {
  const { settings, clock, logger, here } = foundation;
  const { store, queue, wakes, logsId } = stores;
  const { agents, forgotten, connection, leaving } = given;
  const { host, logsFolder, agentConcurrency: concurrency } = settings;
  const { runLeaseMs, killGraceMs: graceMs, stallMs } = settings.timings;
  const { endOnDisk, progress: display, router, accepted } = chat;
  const notify = (sentence: string) => logger.warn(sentence);
  const reaper = new Reaper({ clock, leaseMs: runLeaseMs, graceMs, notify });
  const lanes = new LaneStarter({ queue, clock, logger, forgotten });
  const directories = new DirectoryWatch({ settings, store, clock, logger, lanes });
  const { waiting } = queue;
  const words = new WaitingWords({ settings, store, clock, logger, chat: router, directories, waiting });
  const shown = { display, chat: router, endOnDisk };
  const runs = { ...shown, store, logsId, lanes, reaper, forgotten, leaving, directories, agents };
  const runner = buildRunner(foundation, queue, wakes, runs);
  const { bullPrefix } = store.keys;
  const worker = new SessionWorker({ ...foundation, host, bullPrefix, connection, concurrency, lanes, runner });
  const canaries = new Canaries({ queue, worker, clock, logger, stallMs });
  const stopMark = new StopMark(logsFolder, here, logger);
  const ending = (target: RunTarget) => endProcesses(target, { clock, graceMs });
  const registered = { ...foundation, store, logsId, accepted, forgotten };
  const lost = new LostMessages({ ...registered, endOnDisk, endProcesses: ending });
  const cleanStart = new CleanStart({ ...foundation, ...stores, stopMark, endOnDisk, lost });
  const isKnown = (sessionId: string) => runner.knows(sessionId);
  const acceptedRounds = new AcceptedRounds({ ...registered, lost, isKnown });
  const missedEnds = new MissedEnds({ ...foundation, store });
  return {
    reaper,
    stopMark,
    lanes,
    directories,
    words,
    runner,
    worker,
    canaries,
    cleanStart,
    acceptedRounds,
    missedEnds,
  };
}

export function buildRunner(
  foundation: Foundation,
  { waiting }: JobQueue,
  wakes: Wakes,
  given: RunSurroundings,
): Runner {
  const { settings, clock } = foundation;
  const context: RunContext = {
    ...foundation,
    ...given,
    waiting,
    endProcesses: (target, graceMs = settings.timings.killGraceMs) => endProcesses(target, { clock, graceMs }),
  };
  return new Runner(context, wakes);
}
