import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Reaper } from '../../../bridge/runs/reaper.js';
import { ReaperDuty, tickMs } from '../../../bridge/runs/reaperDuty.js';
import type { RunTarget } from '../../../bridge/runs/runProcesses.js';
import { markedPids, systemProcessTable } from '../../../src/host/processes.js';
import { readStat } from '../../../src/host/procfs.js';
import { compiledProgram } from '../../../src/host/program.js';
import { systemClock } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { killLeftovers, newRunId, startMarked } from './processes.js';

const LONG_LEASE_MS = 60_000;
const GRACE_MS = 200;

/** Each agent has a tool in a process session of its own that ignores SIGTERM. */
const SCENARIO = { scenarios: [{ steps: [{ do: 'hanging_tool', ignores_sigterm: true }] }] };

interface StandIn {
  readonly child: ChildProcess;
  readonly lines: Interface;
  readonly reaper: number;
  readonly pids: readonly number[];
  readonly runIds: readonly string[];
  readonly folder: string;
}

async function startStandIn(leaseMs: number): Promise<StandIn> {
  const folder = testFolder();
  writeFileSync(join(folder, 'scenario.json'), JSON.stringify(SCENARIO));
  const runIds = [newRunId(), newRunId()];
  const args = [
    compiledProgram('test/bridge/runs/standInBridge'),
    String(leaseMs),
    String(GRACE_MS),
    folder,
    ...runIds,
  ];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  afterThisTest(async () => {
    const exit = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
    child.kill('SIGKILL');
    await exit;
    killLeftovers();
    lines.close();
  });
  return { child, lines, runIds, folder, ...(await hear<{ reaper: number; pids: number[] }>(lines)) };
}

async function hear<Said>(lines: Interface): Promise<Said> {
  const [line] = await once(lines, 'line');
  return JSON.parse(String(line));
}

/** Awaits what the reaper's other side says. */
async function notice({ lines }: StandIn, words: string): Promise<void> {
  while (!(await hear<{ notice: string }>(lines)).notice.includes(words));
}

const isGone = (pid: number): boolean => typeof readStat(pid) === 'string';
const left = ({ runIds }: StandIn): number[] => runIds.flatMap(markedPids);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(5);
}

describe('when its bridge', () => {
  // rule: the-reaper-ends-lost-runs
  test('is killed, no process of any run is left, and the reaper exits, too', async () => {
    const bridge = await startStandIn(LONG_LEASE_MS);
    expect(left(bridge)).toHaveLength(4);
    bridge.child.kill('SIGKILL');
    await until(() => isGone(bridge.reaper));
    expect(left(bridge)).toEqual([]);
  });

  // rule: the-reaper-ends-lost-runs
  test('is stopped for longer than the lease, its runs are ended although it still exists', async () => {
    const bridge = await startStandIn(1_200);
    bridge.child.kill('SIGSTOP');
    await until(() => isGone(bridge.reaper));
    expect(left(bridge)).toEqual([]);
    expect(isGone(bridge.child.pid ?? 0)).toBe(false);

    bridge.child.kill('SIGCONT');
    await notice(bridge, 'the next reaper is up');
  });

  test('says goodbye, its runs are left alone', async () => {
    const bridge = await startStandIn(LONG_LEASE_MS);
    bridge.child.stdin?.write('bye\n');
    await once(bridge.child, 'exit');
    expect(isGone(bridge.reaper)).toBe(true);
    expect(left(bridge)).toHaveLength(4);
  });

  test('is killed after its reaper was killed, the next reaper knows the runs', async () => {
    const bridge = await startStandIn(LONG_LEASE_MS);
    process.kill(bridge.reaper, 'SIGKILL');
    await notice(bridge, 'ended by itself (SIGKILL)');
    await notice(bridge, 'runs: 2');
    expect(left(bridge)).toHaveLength(4);
    bridge.child.kill('SIGKILL');
    await until(() => left(bridge).length === 0);
  });

  test('and its whole terminal get signals, the reaper stays', async () => {
    const bridge = await startStandIn(LONG_LEASE_MS);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(bridge.reaper, signal);
    bridge.child.kill('SIGTERM');
    await until(() => isGone(bridge.reaper));
    expect(left(bridge)).toEqual([]);
  });
});

describe('the reaper', () => {
  test('has its own session, no environment, and no open files of the bridge', async () => {
    const bridge = await startStandIn(LONG_LEASE_MS);
    expect(readStat(bridge.reaper)).toMatchObject({ group: bridge.reaper, session: bridge.reaper });
    expect(readFileSync(`/proc/${bridge.reaper}/environ`, 'utf8')).toBe('');
    expect(readlinkSync(`/proc/${bridge.reaper}/cwd`)).toBe('/');
    expect(openFiles(bridge.child.pid ?? 0)).toContain(join(bridge.folder, 'scenario.json'));
    const inherited = openFiles(bridge.reaper).filter((target) => target.startsWith('/') && target !== '/dev/null');
    expect(inherited).toEqual([]);
    expect(openFiles(bridge.reaper).filter((target) => target.startsWith('socket:'))).toHaveLength(3);
  });

  test('ends only the runs whose end was not reported to it', async () => {
    const [ended, running] = [newRunId(), newRunId()];
    const survivor = await startMarked(ended, 'echo up; exec sleep 60');
    await startMarked(running, 'echo up; exec sleep 60');
    const reaper = spawn(process.execPath, [compiledProgram('bridge/runs/reaperMain'), '60000', '200'], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    const exit = once(reaper, 'exit');
    reaper.stdin.end(`run ${ended}\nrun ${running}\ntick\nwhat is this\nrun ${ended} ${survivor.pid}\nend ${ended}\n`);
    expect(await exit).toEqual([0, null]);
    expect(markedPids(running)).toEqual([]);
    expect(markedPids(ended)).toEqual([survivor.pid]);
    killLeftovers();
  });

  test('is killed as runs begin: they do not wait for it, and the next one knows them', async () => {
    const told: string[] = [];
    const reaper = new Reaper({
      clock: systemClock,
      leaseMs: LONG_LEASE_MS,
      notify: (sentence) => void told.push(sentence),
    });
    await reaper.start();
    afterThisTest(() => reaper.stop());
    process.kill(reaper.pid ?? 0, 'SIGKILL');
    await Promise.all([reaper.watch(newRunId()), reaper.watch(newRunId())]);
    await until(() => told.some((sentence) => sentence.includes('runs: 2')));
  });

  test('starts and stops any number of times, and rejects an invalid id', async () => {
    const reaper = new Reaper({ clock: systemClock, leaseMs: LONG_LEASE_MS, notify: () => {} });
    await reaper.stop();
    await reaper.start();
    const { pid } = reaper;
    await reaper.start();
    expect(reaper.pid).toBe(pid);
    await expect(reaper.watch('a\nbye')).rejects.toThrow('cannot be reported');
    await reaper.stop();
    await reaper.stop();
    expect(reaper.pid).toBeNull();
    expect(isGone(pid ?? 0)).toBe(true);
  });
});

describe('silence of the bridge', () => {
  const leaseMs = 12_000;

  function onDuty() {
    const clock = new ManualClock();
    const verdicts: { verdict: string; runs: readonly RunTarget[] }[] = [];
    const onVerdict = (verdict: string, runs: readonly RunTarget[]) => void verdicts.push({ verdict, runs });
    const duty = new ReaperDuty({ clock, leaseMs, table: systemProcessTable(), onVerdict });
    duty.start();
    return { clock, duty, verdicts };
  }

  test('is one lease of ticks on time', async () => {
    const { clock, duty, verdicts } = onDuty();
    duty.hear('run a');
    await clock.advance(leaseMs - 1);
    expect(verdicts).toEqual([]);
    await clock.advance(1);
    expect(verdicts).toEqual([{ verdict: 'silent', runs: [{ runId: 'a', groupPid: null }] }]);
    await clock.advance(2 * leaseMs);
    expect(verdicts).toHaveLength(1);
  });

  test('starts again with every line', async () => {
    const { clock, duty, verdicts } = onDuty();
    for (let line = 0; line < 5; line += 1) {
      await clock.advance(leaseMs - tickMs(leaseMs));
      duty.hear('tick');
    }
    expect(verdicts).toEqual([]);
  });

  test('does not count while the host sleeps, or while the reaper itself is stopped', async () => {
    const { clock, verdicts } = onDuty();
    await clock.advance(leaseMs / 2);
    await clock.stall(100 * leaseMs);
    await clock.advance(leaseMs / 2 - tickMs(leaseMs));
    expect(verdicts).toEqual([]);
    await clock.advance(2 * tickMs(leaseMs));
    expect(verdicts).toMatchObject([{ verdict: 'silent' }]);
  });
});

function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((file) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${file}`)];
    } catch {
      return [];
    }
  });
}
