import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { endRun } from '../../../bridge/runs/endRun.js';
import { proveRunDead } from '../../../bridge/runs/proof.js';
import { isProcessAlive, readProcessIdentity } from '../../../src/host/identity.js';
import { lifeSignFolder, lifeSignPath } from '../../../src/host/lifeSign.js';
import { markedPids, systemProcessTable } from '../../../src/host/processes.js';
import { readStat } from '../../../src/host/procfs.js';
import { psTable } from '../../../src/host/ps.js';
import type { HostProcess, ProcessTable } from '../../../src/host/table.js';
import type { Run } from '../../../src/jobs/model.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { killLeftovers, newRunId, startMarked } from './processes.js';

const LONG_GRACE_MS = 20_000;
const SHORT_GRACE_MS = 150;
/** The tool says its pid itself, once it is in its own session. */
const OWN_SESSION_TOOL = "setsid sh -c 'echo $$; exec sleep 60' & wait";
const IGNORES_TERM = "trap '' TERM; echo $$; while :; do sleep 1; done";

afterEach(killLeftovers);

const end = (runId: string, groupPid: number | null, graceMs: number, table?: ProcessTable) =>
  endRun({ runId, groupPid }, { clock: systemClock, graceMs, ...(table === undefined ? {} : { table }) });

describe('ending a run', () => {
  test('SIGTERM is enough for a process that handles it: no kill, and no wait for the grace period', async () => {
    const runId = newRunId();
    // The shell outlives its child: only its own SIGTERM ends it.
    const { pid } = await startMarked(runId, 'sleep 60 & echo ready; while :; do wait; done');
    const report = await end(runId, pid, LONG_GRACE_MS);
    expect(report).toMatchObject({ proven: true, by: 'mark', asked: 2, killed: 0, survivors: [] });
    expect(report.tookMs).toBeLessThan(LONG_GRACE_MS / 2);
  });

  test('one empty scan is not proof: a process that the next scan finds is ended, too', async () => {
    const runId = newRunId();
    await startMarked(runId, 'sleep 60 & echo ready; wait');
    const host = systemProcessTable();
    let looks = 0;
    const late: ProcessTable = {
      find: (pid) => host.find(pid),
      snapshot: (...asked) => {
        looks += 1;
        const seen = host.snapshot(...asked);
        return looks > 1 ? seen : { ...seen, living: new Map(), marked: [], unreadable: [] };
      },
    };
    const report = await end(runId, null, LONG_GRACE_MS, late);
    expect(report.proven).toBe(true);
    expect(markedPids(runId)).toEqual([]);
  });

  test('a process that ignores SIGTERM gets SIGKILL, not before the grace period ends', async () => {
    const runId = newRunId();
    const { child, pid } = await startMarked(runId, IGNORES_TERM);
    const exit = once(child, 'exit');
    const report = await end(runId, pid, SHORT_GRACE_MS);
    expect(report.proven).toBe(true);
    expect(report.killed).toBeGreaterThan(0);
    expect(report.tookMs).toBeGreaterThanOrEqual(SHORT_GRACE_MS);
    expect(await exit).toEqual([null, 'SIGKILL']);
  });

  // rule: nothing-of-a-run-is-left
  test('a tool in its own session outlives its group, but not the end of the run', async () => {
    const runId = newRunId();
    const { child, pid, said } = await startMarked(runId, 'setsid sh -c "$TOOL" & wait', { TOOL: IGNORES_TERM });
    const tool = Number(said);
    const exit = once(child, 'exit');
    process.kill(-pid, 'SIGKILL');
    await exit;
    expect(markedPids(runId)).toContain(tool);

    const report = await end(runId, pid, SHORT_GRACE_MS);
    expect(report.proven).toBe(true);
    expect(markedPids(runId)).toEqual([]);
  });

  test('a tool that is left after its group has gone gets SIGTERM at once', async () => {
    const runId = newRunId();
    const { pid } = await startMarked(runId, OWN_SESSION_TOOL);
    const report = await end(runId, pid, LONG_GRACE_MS);
    expect(report).toMatchObject({ proven: true, asked: 2, killed: 0 });
    expect(report.tookMs).toBeLessThan(LONG_GRACE_MS / 2);
  });

  test('a stopped process is continued so that it can end', async () => {
    const runId = newRunId();
    const { pid } = await startMarked(runId, 'trap "exit 0" TERM; echo ready; while :; do :; done');
    process.kill(pid, 'SIGSTOP');
    expect(await end(runId, pid, LONG_GRACE_MS)).toMatchObject({ proven: true, asked: 1, killed: 0 });
  });

  test('a process that keeps replacing itself is caught', async () => {
    const runId = newRunId();
    const relay = 'trap "" TERM; setsid /bin/sh -c "$RELAY" &';
    await startMarked(runId, 'echo ready; eval "$RELAY"', { RELAY: relay });
    const report = await end(runId, null, 0);
    expect(report.proven).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(markedPids(runId)).toEqual([]);
  });

  test('a child with an emptied environment is ended through its parent and its group', async () => {
    const runId = newRunId();
    const { pid, said } = await startMarked(runId, `env -i sh -c 'trap "" TERM; echo $$; sleep 61' & wait`);
    const hidden = readProcessIdentity('here', Number(said));
    expect((await end(runId, pid, SHORT_GRACE_MS)).proven).toBe(true);
    expect(isProcessAlive(hidden, hidden)).toBe(false);
  });

  // rule: nothing-of-a-run-is-left
  test('scans that fail for a moment are repeated, so that no process is left', async () => {
    const runId = newRunId();
    const { child, pid } = await startMarked(runId, IGNORES_TERM);
    const exit = once(child, 'exit');
    const host = systemProcessTable();
    let looks = 0;
    const table: ProcessTable = {
      ...host,
      snapshot: (...args) => {
        looks += 1;
        if (looks % 2 === 1) throw new Error('EMFILE: too many open files');
        return host.snapshot(...args);
      },
      find: (sought) => host.find(sought),
    };
    expect(await end(runId, pid, SHORT_GRACE_MS, table)).toMatchObject({ proven: true, survivors: [] });
    expect(await exit).toEqual([null, 'SIGKILL']);
  });

  test('a run without a process is proven dead', async () => {
    expect(await end(newRunId(), null, LONG_GRACE_MS)).toMatchObject({ proven: true, asked: 0, killed: 0 });
  });

  test('a pid that now belongs to another process is left alone', async () => {
    const stranger = await startMarked(newRunId(), 'echo ready; exec sleep 60');
    expect(await end(newRunId(), stranger.pid, 0)).toMatchObject({ proven: true, asked: 0, killed: 0 });
    expect(readStat(stranger.pid)).toMatchObject({ pid: stranger.pid });
  });
});

describe('processes that cannot be ended are not reported as ended', () => {
  const immortal: HostProcess = { pid: 2 ** 22 + 7, parent: 1, group: 2 ** 22 + 7, session: 2 ** 22 + 7, start: '1' };
  const living = new Map([[immortal.pid, immortal]]);
  const shown = { living, marked: [], unreadable: [], settled: true, showsMarks: true };

  test.each([
    ['a process that does not die', { ...shown, marked: [immortal] }, [immortal.pid]],
    ['a process of the group that cannot be read', { ...shown, unreadable: [immortal] }, [immortal.pid]],
    ['a host on which something always moves', { ...shown, living: new Map(), settled: false }, []],
  ])('%s', async (_, snapshot, survivors) => {
    const table: ProcessTable = {
      snapshot: (_runId, onMarked) => {
        for (const found of snapshot.marked) onMarked?.(found);
        return snapshot;
      },
      find: () => immortal,
    };
    const report = await endRun(
      { runId: newRunId(), groupPid: immortal.pid },
      { clock: systemClock, graceMs: 20, giveUpMs: 100, table },
    );
    expect(report).toMatchObject({ proven: false, survivors });
  });
});

describe('without /proc', () => {
  test('the recorded tree is ended, including tools in their own sessions', async () => {
    const runId = newRunId();
    const { pid } = await startMarked(runId, OWN_SESSION_TOOL);
    expect(await end(runId, pid, LONG_GRACE_MS, psTable)).toMatchObject({ proven: true, by: 'tree' });
    expect(markedPids(runId)).toEqual([]);
  });

  test('a pid with another start time is left alone', async () => {
    const stranger = await startMarked(newRunId(), 'echo ready; exec sleep 60');
    const target = { runId: newRunId(), groupPid: stranger.pid, groupStart: 'Thu Nov 20 18:48:01 2025' };
    const report = await endRun(target, { clock: systemClock, graceMs: 0, table: psTable });
    expect(report).toMatchObject({ proven: true, asked: 0, killed: 0 });
    expect(readStat(stranger.pid)).toMatchObject({ pid: stranger.pid });
  });
});

describe('proof of death', () => {
  const here = readProcessIdentity('here');
  const dead = { ...here, pid_start: '1' };
  const prove = async (run: Partial<Run>, options: { logsFolder?: string; table?: ProcessTable } = {}) => {
    const whole = { run_id: newRunId(), owner: dead, pid: null, started_at: 0, ...run };
    const proof = await proveRunDead(whole, here, { clock: systemClock, logsFolder: '/nowhere', ...options });
    return proof?.by ?? null;
  };

  test('an empty scan in the same boot and pid namespace', async () => {
    const runId = newRunId();
    const { child, pid } = await startMarked(runId, 'echo ready; exec sleep 60');
    const exit = once(child, 'exit');
    expect(await prove({ run_id: runId, pid })).toBeNull();
    process.kill(pid, 'SIGKILL');
    await exit;
    expect(await prove({ run_id: runId, pid })).toBe('scan');
  });

  test('a tool in its own session keeps its run alive, although its agent has gone', async () => {
    const runId = newRunId();
    const { child, pid } = await startMarked(runId, OWN_SESSION_TOOL);
    const exit = once(child, 'exit');
    process.kill(-pid, 'SIGKILL');
    await exit;
    expect(await prove({ run_id: runId, pid })).toBeNull();
  });

  test('a process during exec, without an environment for a moment, is not missed', async () => {
    const runId = newRunId();
    const { pid } = await startMarked(runId, 'echo ready; exec /bin/sh -c "$LOOP"', {
      LOOP: 'exec /bin/sh -c "$LOOP"',
    });
    for (let tries = 0; tries < 150; tries += 1) expect(await prove({ run_id: runId, pid })).toBeNull();
  });

  test('a living owner may be about to start a process that it has not recorded yet', async () => {
    const living = readProcessIdentity('here', process.ppid);
    expect(await prove({ owner: living })).toBeNull();
    expect(await prove({ owner: living, pid: 2 ** 22 + 7 })).toBe('scan');
    expect(await prove({ owner: here })).toBe('scan');
  });

  test('another boot of the same host; never of another host', async () => {
    expect(await prove({ owner: { ...dead, boot_id: 'another' } })).toBe('other_boot');
    expect(await prove({ owner: { ...dead, boot_id: 'another', host: 'elsewhere' } })).toBeNull();
    expect(await prove({ owner: { ...dead, boot_id: '' } })).toBeNull();
  });

  // rule: a-container-gives-a-life-sign
  test('another pid namespace only if its owner gave a life sign and has stopped giving it', async () => {
    const logsFolder = testFolder();
    const elsewhere = { ...dead, pid_namespace: '1', pid: 7 };
    mkdirSync(lifeSignFolder(logsFolder));
    expect(await prove({ owner: elsewhere }, { logsFolder })).toBeNull();
    const listen = 'require("net").createServer().listen(process.argv[1], () => console.log("ready"))';
    const child = spawn(process.execPath, ['-e', listen, lifeSignPath(logsFolder, elsewhere)]);
    afterThisTest(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    expect(await prove({ owner: elsewhere }, { logsFolder })).toBeNull();
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    expect(await prove({ owner: elsewhere }, { logsFolder })).toBe('other_container');
    // A socket means nothing to another kernel, and another host is another kernel.
    expect(await prove({ owner: { ...elsewhere, host: 'elsewhere' } }, { logsFolder })).toBeNull();
    expect(await prove({ owner: { ...elsewhere, pid_namespace: '' } }, { logsFolder })).toBeNull();
  });

  test('nothing is proven if marks cannot be read, or if the scan never settles', async () => {
    expect(await prove({}, { table: psTable })).toBeNull();
    const restless: ProcessTable = {
      snapshot: (runId) => ({ ...systemProcessTable().snapshot(runId), settled: false }),
      find: () => null,
    };
    expect(await prove({}, { table: restless })).toBeNull();
  });
});
