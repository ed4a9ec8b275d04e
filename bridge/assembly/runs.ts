/** What runs agents, built. */
import type { DeathProof } from '../../src/jobs/model.js';
import type { Lanes } from '../../src/jobs/ports.js';
import type { Wakes } from '../../src/jobs/wakes.js';
import type { Agent } from '../agents/program/contract.js';
import { confinementOf } from '../agents/program/isolation.js';
import type { JobQueue } from '../queue/pump.js';
import { endRun } from '../runs/endRun.js';
import { promptOf } from '../runs/prompt.js';
import type { RunContext } from '../runs/runJob.js';
import { Runner } from '../runs/runner.js';
import type { RunTarget } from '../runs/runProcesses.js';
import type { Foundation } from './foundation.js';

type FromOutside =
  | 'store'
  | 'logsId'
  | 'reaper'
  | 'display'
  | 'chat'
  | 'leaving'
  | 'mustWait'
  | 'endOnDisk'
  | 'noteForgotten'
  | 'noteLost';

export interface RunnerParts extends Pick<RunContext, FromOutside> {
  readonly wakes: Wakes;
  readonly queue: JobQueue;
  readonly lanes: Lanes;
  /** By project. */
  readonly agents: { get(projectKey: string): Agent | undefined };
}

export function buildRunner(foundation: Foundation, parts: RunnerParts): Runner {
  const {
    store,
    logsId,
    reaper,
    display,
    chat,
    leaving,
    mustWait,
    endOnDisk,
    noteForgotten,
    noteLost,
    wakes,
    agents,
    queue,
    lanes,
  } = parts;
  const { settings, clock, logger, redact, here } = foundation;
  const { logsFolder, timings } = settings;
  return new Runner(
    {
      store,
      clock,
      logger,
      here,
      logsFolder,
      logsId,
      redact,
      runLeaseMs: timings.runLeaseMs,
      agentUser: settings.agentUser,
      agentEnvironment: settings.agentEnvironment,
      agentOf: (projectKey) => agents.get(projectKey) ?? null,
      confinementOf: (projectKey) => confinementOf(settings, projectKey),
      projectOf: (key) => settings.projects.get(key) ?? null,
      promptOf: (session) => promptOf(store, logsFolder, redact, session),
      takeWaiting: (sessionId) => queue.takeWaiting(sessionId),
      keepWaiting: (session) => queue.remember(session),
      isWaiting: (sessionId) => queue.isWaiting(sessionId),
      endOnDisk,
      noteForgotten,
      noteLost,
      lanes,
      reaper,
      endProcesses: (target, graceMs) => endProcesses(foundation, target, graceMs),
      display,
      chat,
      leaving,
      mustWait,
    },
    wakes,
    timings,
  );
}

/**
 * @param graceMs between SIGTERM and SIGKILL; as configured by default
 * @returns the proof that no process of the run is left; null where something could not be ended
 */
export async function endProcesses(
  { settings, clock }: Foundation,
  target: RunTarget,
  graceMs = settings.timings.killGraceMs,
): Promise<DeathProof | null> {
  const report = await endRun(target, { clock, graceMs });
  return report.proven ? { run_id: target.runId, proven_at: clock.now(), by: 'scan' } : null;
}
