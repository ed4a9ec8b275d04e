/** Builds the part that runs agents. */
import type { DeathProof } from '../../src/jobs/model.js';
import type { Wakes } from '../../src/jobs/wakes.js';
import { confinementOf } from '../agents/program/isolation.js';
import type { JobQueue } from '../queue/pump.js';
import { endRun } from '../runs/endRun.js';
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
  | 'directories'
  | 'endOnDisk'
  | 'forgotten'
  | 'lanes'
  | 'agents';

export interface RunnerParts extends Pick<RunContext, FromOutside> {
  readonly wakes: Wakes;
  readonly queue: JobQueue;
}

export function buildRunner(foundation: Foundation, { wakes, queue, ...given }: RunnerParts): Runner {
  const { settings, clock, logger, redact, here } = foundation;
  const { logsFolder, timings } = settings;
  const context: RunContext = {
    ...given,
    clock,
    logger,
    here,
    logsFolder,
    redact,
    runLeaseMs: timings.runLeaseMs,
    agentUser: settings.agentUser,
    agentEnvironment: settings.agentEnvironment,
    confinementOf: (projectKey) => confinementOf(settings, projectKey),
    projectOf: (key) => settings.projects.get(key) ?? null,
    waiting: queue.waiting,
    endProcesses: (target, graceMs) => endProcesses(foundation, target, graceMs),
  };
  return new Runner(context, wakes, timings);
}

/**
 * @param graceMs between SIGTERM and SIGKILL; as configured by default
 * @returns the proof that no process of the run is left; null if something could not be ended
 */
export async function endProcesses(
  { settings, clock }: Foundation,
  target: RunTarget,
  graceMs = settings.timings.killGraceMs,
): Promise<DeathProof | null> {
  const report = await endRun(target, { clock, graceMs });
  return report.proven ? { run_id: target.runId, proven_at: clock.now(), by: 'scan' } : null;
}
