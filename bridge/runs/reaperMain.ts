/** The reaper's program: `reaperMain.js LEASE_MS GRACE_MS`, in its own session, deaf to the signals that end its bridge. */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { systemProcessTable } from '../../src/host/processes.js';
import { systemClock } from '../../src/time.js';
import { endRun } from './endRun.js';
import { ReaperDuty, type Verdict } from './reaperDuty.js';
import type { RunTarget } from './runProcesses.js';

/** A bridge that is killed while it starts an agent leaves a child that does not carry its mark yet. */
const QUIET_MS = 500;
const STDOUT = 1;

const [leaseMs, graceMs] = process.argv.slice(2);
const table = systemProcessTable();
const options = { clock: systemClock, graceMs: Number(graceMs), quietMs: QUIET_MS, table };

async function act(verdict: Verdict, runs: readonly RunTarget[]): Promise<void> {
  if (verdict !== 'farewell') await Promise.all(runs.map((run) => endRun(run, options)));
  process.exit(0);
}

const duty = new ReaperDuty({
  clock: systemClock,
  leaseMs: Number(leaseMs),
  table,
  onVerdict: (verdict, runs) => void act(verdict, runs),
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => {});
createInterface({ input: process.stdin })
  .on('line', (line) => duty.hear(line))
  .on('close', () => duty.closed());
process.stdin.on('error', () => duty.closed());
duty.start();
try {
  writeSync(STDOUT, 'ready\n');
} catch {
  // The bridge is gone already; the closed pipe says so.
}
