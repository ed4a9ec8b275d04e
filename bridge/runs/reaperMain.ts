/**
 * The reaper's program: `reaperMain.js LEASE_MS GRACE_MS [REPORT_FILE]`, started by `Reaper` with its end of a pipe as standard
 * input. It has its own process session and ignores the signals that end its bridge, because that is when it is needed. It
 * appends what it ended to the report file.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { appendPrivately } from '../../src/files/privateFiles.js';
import { systemProcessTable } from '../../src/host/processes.js';
import { isoTime, systemClock } from '../../src/time.js';
import { type EndReport, endRun } from './endRun.js';
import { ReaperDuty, type Verdict } from './reaperDuty.js';
import type { RunTarget } from './runProcesses.js';

/** A bridge that is killed while it starts an agent leaves a child that does not carry its mark yet. */
const QUIET_MS = 500;
const STDOUT = 1;

const [leaseMs, graceMs, reportFile] = process.argv.slice(2);
const table = systemProcessTable();

async function act(verdict: Verdict, runs: readonly RunTarget[]): Promise<void> {
  if (verdict !== 'farewell') await Promise.all(runs.map((run) => end(verdict, run)));
  process.exit(0);
}

async function end(verdict: Verdict, run: RunTarget): Promise<void> {
  const report = await endRun(run, { clock: systemClock, graceMs: Number(graceMs), quietMs: QUIET_MS, table });
  if (reportFile !== undefined) write(reportFile, verdict, report);
}

function write(path: string, why: Verdict, { runId, proven, asked, killed, survivors, tookMs }: EndReport): void {
  const line = {
    at: isoTime(systemClock.now()),
    why,
    run_id: runId,
    proven,
    asked,
    killed,
    survivors,
    took_ms: tookMs,
  };
  try {
    appendPrivately(path, `${JSON.stringify(line)}\n`);
  } catch {
    // The report is for people; a full disk must not keep the other runs alive.
  }
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
