/** Real processes for tests, and the certainty that none outlives its test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { RunProcesses } from '../../../bridge/runs/runProcesses.js';
import { RUN_MARK } from '../../../src/host/processes.js';

const started = new Set<string>();
let count = 0;

/** @returns a run id that no other test uses */
export function newRunId(): string {
  count += 1;
  const runId = `test-${process.pid}-${count}`;
  started.add(runId);
  return runId;
}

/**
 * Starts a shell as the leader of a group and session of its own, with the run's mark, and waits until it says a line.
 * @param script must print a line when it is ready; what it prints is returned
 */
export async function startMarked(
  runId: string,
  script: string,
  environment: Record<string, string> = {},
): Promise<{ child: ChildProcess; pid: number; said: string }> {
  const child = spawn('/bin/sh', ['-c', script], {
    detached: true,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', [RUN_MARK]: runId, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [said] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, pid: child.pid ?? 0, said: String(said) };
}

/** Kills what tests left over, until looking again finds nothing. */
export function killLeftovers(): void {
  for (const runId of started) {
    const processes = new RunProcesses({ runId, groupPid: null });
    for (let look = processes.look(); look.left.length > 0 || !look.settled; look = processes.look()) {
      for (const { pid } of look.left) kill(pid);
    }
  }
  started.clear();
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}
