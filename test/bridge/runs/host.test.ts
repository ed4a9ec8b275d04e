import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { endRun } from '../../../bridge/runs/endRun.js';
import { isProcessAlive, readProcessIdentity } from '../../../src/host/identity.js';
import { holdsEntry } from '../../../src/host/marks.js';
import { markedPids, systemProcessTable } from '../../../src/host/processes.js';
import { parseStat, readStat } from '../../../src/host/procfs.js';
import { parsePs, psTable } from '../../../src/host/ps.js';
import { systemClock } from '../../../src/time.js';
import { readProcessTree } from '../../harness/processTree.js';
import { killLeftovers, newRunId, startMarked } from './processes.js';

// covers: src/host/identity.ts
// covers: src/host/marks.ts
// covers: src/host/processes.ts
// covers: src/host/procfs.ts

const folder = mkdtempSync(join(tmpdir(), 'host-'));
const here = readProcessIdentity('here');

afterEach(killLeftovers);
afterAll(() => rmSync(folder, { recursive: true }));

describe('identity of a process', () => {
  test('this process is alive, in a boot and a pid namespace', () => {
    expect(here).toMatchObject({ host: 'here', pid: process.pid });
    expect(here.boot_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(here.pid_namespace).toMatch(/^\d+$/);
    expect(here.pid_start).toMatch(/^\d+$/);
    expect(isProcessAlive(here, here)).toBe(true);
  });

  test('the same pid with another start time is another process', () => {
    expect(isProcessAlive({ ...here, pid_start: '1' }, here)).toBe(false);
  });

  test('a process of an earlier boot of this host is dead; one of another host or pid namespace cannot be seen', () => {
    expect(isProcessAlive({ ...here, boot_id: 'another' }, here)).toBe(false);
    expect(isProcessAlive({ ...here, boot_id: '' }, here)).toBeNull();
    expect(isProcessAlive({ ...here, pid_namespace: '1' }, here)).toBeNull();
    expect(isProcessAlive({ ...here, host: 'elsewhere', boot_id: 'another' }, here)).toBeNull();
  });

  test('a process that ended is dead, even while it is a zombie', async () => {
    // The shell becomes a program that never waits for its child.
    const runId = newRunId();
    const { pid, said } = await startMarked(runId, 'sleep 60 & echo $!; exec sleep 60');
    while (readFileSync(`/proc/${pid}/comm`, 'utf8') !== 'sleep\n') await pause(1);
    const child = readProcessIdentity('here', Number(said));
    expect(isProcessAlive(child, here)).toBe(true);
    process.kill(child.pid, 'SIGKILL');
    while (readStat(child.pid) !== 'zombie') await pause(1);
    expect(isProcessAlive(child, here)).toBe(false);
    expect(markedPids(runId)).not.toContain(child.pid);
  });

  test('a program name that looks like the rest of the line is parsed correctly', async () => {
    const program = join(folder, 'a) Z 1 (b c');
    symlinkSync('/bin/sleep', program);
    const child = spawn(program, ['60']);
    await once(child, 'spawn');
    expect(readStat(child.pid ?? 0)).toMatchObject({ pid: child.pid, parent: process.pid });
    child.kill('SIGKILL');
  });

  test('a process is alive after its first thread has ended', () => {
    const line = (state: string, threads: number, flags = 4194560) =>
      `7 (x) ${state} 1 7 7 0 -1 ${flags} 0 0 0 0 0 0 0 0 20 0 ${threads} 0 4711 0 0`;
    expect(parseStat(7, line('Z', 1))).toBe('zombie');
    expect(parseStat(7, line('Z', 2))).toEqual({ pid: 7, parent: 1, group: 7, session: 7, start: '4711' });
    expect(parseStat(7, line('S', 1, 69238848))).toBe('kernel');
  });
});

describe('marked processes', () => {
  test('are found in their own groups and sessions, and no others are', async () => {
    const runId = newRunId();
    const { pid, said } = await startMarked(runId, "setsid sh -c 'echo $$; exec sleep 60' & wait");
    const other = await startMarked(newRunId(), 'echo ready; sleep 60', { X_WATCHKEEPER_RUN: runId });
    expect(markedPids(runId).sort()).toEqual([pid, Number(said)].sort());
    expect(
      new Set(
        systemProcessTable()
          .snapshot(runId)
          .marked.map(({ session }) => session),
      ).size,
    ).toBe(2);
    expect(markedPids(runId)).not.toContain(other.pid);
  });

  // rule: a-scan-misses-no-process
  test('a settled scan has seen the living process, however quickly it is replaced', async () => {
    const runId = newRunId();
    const relay = 'trap "" TERM; setsid /bin/sh -c "$RELAY" &';
    await startMarked(runId, 'echo ready; eval "$RELAY"', { RELAY: relay });
    const table = systemProcessTable();
    let rested = 0;
    for (let looks = 0; looks < 2_000 && rested < 400; looks += 1) {
      const { settled, marked } = table.snapshot(runId);
      if (!settled) continue;
      rested += 1;
      expect(marked.length).toBeGreaterThan(0);
    }
    expect(rested).toBe(400);
    await endRun({ runId, groupPid: null }, { clock: systemClock, graceMs: 0 });
  });

  test('an id that only begins like the mark is another run', async () => {
    const runId = newRunId();
    const { pid } = await startMarked(newRunId(), 'echo ready; exec sleep 60', { WATCHKEEPER_RUN: `${runId}0` });
    expect(markedPids(runId)).toEqual([]);
    expect(markedPids(`${runId}0`)).toEqual([pid]);
    process.kill(pid, 'SIGKILL');
  });

  test.each([
    ['RUN=1\0A=2\0', true],
    ['A=2\0RUN=1', true],
    ['A=2\0RUN=1\0', true],
    ['A=2\0RUN=12\0', false],
    ['XRUN=1\0RUN=12\0', false],
    ['XRUN=1\0RUN=1\0', true],
    ['A=RUN=1\0', false],
    ['', false],
  ])('%j holds RUN=1: %s', (environment, held) => {
    expect(holdsEntry(Buffer.from(environment), Buffer.from('RUN=1'))).toBe(held);
  });
});

describe('the tree of a process', () => {
  test('is read in the same way from /proc and from ps', async () => {
    const { pid, said } = await startMarked(newRunId(), 'sleep 60 & echo $!; wait');
    const fromProc = readProcessTree(pid).map((found) => found.pid);
    expect(fromProc).toEqual([pid, Number(said)]);
    expect(readProcessTree(pid, psTable).map((found) => found.pid)).toEqual(fromProc);
    expect(psTable.find(pid)?.group).toBe(pid);
    expect(psTable.find(2 ** 22 + 1)).toBeNull();
  });

  test('ps: zombies and meaningless lines are left out', () => {
    const text =
      '    1     0     1 Ss   Thu Nov 20 18:48:01 2026\n    9     1     9 Z+   Thu Nov 20 18:48:02 2026\nps: oh\n\n';
    expect(parsePs(text)).toEqual([{ pid: 1, parent: 0, group: 1, session: 1, start: 'Thu Nov 20 18:48:01 2026' }]);
  });
});
