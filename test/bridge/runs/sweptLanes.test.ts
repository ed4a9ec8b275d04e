import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from '@jest/globals';
import { findMarkingProgram, markedLine } from '../../../bridge/agents/program/markedLine.js';
import { checkMarks } from '../../../bridge/doctor/isolationChecks.js';
import { endRun } from '../../../bridge/runs/endRun.js';
import { SweptLanes } from '../../../bridge/runs/sweptLanes.js';
import { limitMarkOf } from '../../../src/host/marks.js';
import { LANE_MARK, laneMark, RUN_MARK } from '../../../src/host/processes.js';
import { readStat } from '../../../src/host/procfs.js';
import { createLogger } from '../../../src/log/logger.js';
import { systemClock } from '../../../src/time.js';
import { killLeftovers, newRunId } from './processes.js';

const LANE = '/projects/shop';
const PATH = '/usr/local/bin:/usr/bin:/bin';
const LOGS_ID = `logs-${process.pid}`;
const logger = createLogger({ level: 'fatal', redact: (text) => text, clock: systemClock, destinations: [] });
const isGone = (pid: number) => typeof readStat(pid) === 'string';

afterEach(killLeftovers);

/** @returns the pid of a tool that has shed its environment and its session; its agent has gone */
async function leaveTool(runId: string, lane: string, logsId = LOGS_ID): Promise<number> {
  const environment = { PATH, [RUN_MARK]: runId, [LANE_MARK]: laneMark(logsId, lane) };
  const script = `env -i setsid /bin/sh -c 'echo $$; exec sleep 61' &`;
  const { command, args } = markedLine({ command: '/bin/sh', args: ['-c', script] }, { runId, environment });
  const child = spawn(command, args, { detached: true, env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
  const exit = once(child, 'exit');
  const [said] = await once(createInterface({ input: child.stdout }), 'line');
  await exit;
  return Number(said);
}

const openLanes = () =>
  new SweptLanes({
    logsId: LOGS_ID,
    logger,
    endProcesses: async (target) => {
      const { proven } = await endRun(target, { clock: systemClock, graceMs: 0 });
      return proven ? { run_id: target.runId, proven_at: 0, by: 'scan' } : null;
    },
  });

describe('before a run starts in a lane', () => {
  // rule: a-lane-is-swept-first
  test('a tool left there by an unknown run is ended, even if it has no environment left', async () => {
    const tool = await leaveTool(newRunId(), LANE);
    expect(await openLanes().sweep(LANE, () => false)).toBe(true);
    expect(isGone(tool)).toBe(true);
  });

  test('other lanes, runs of another Watchkeeper and own runs of this process are left alone', async () => {
    const own = newRunId();
    const tools = [
      await leaveTool(newRunId(), '/projects/other'),
      await leaveTool(newRunId(), LANE, 'other-logs'),
      await leaveTool(own, LANE),
    ];
    expect(await openLanes().sweep(LANE, (limit) => limit === limitMarkOf(own))).toBe(true);
    expect(tools.map(isGone)).toEqual([false, false, false]);
  });
});

describe('the doctor', () => {
  test('warns about a host that cannot set limits, or not the limits that mark a lane', () => {
    expect(checkMarks(findMarkingProgram())).toMatchObject([{ verdict: 'ok' }]);
    expect(checkMarks(null)).toMatchObject([{ verdict: 'warning', remedy: expect.stringMatching(/util-linux/) }]);
    const partly = { path: '/usr/bin/prlimit', marksLanes: false };
    expect(checkMarks(partly)).toMatchObject([{ verdict: 'warning', found: expect.stringMatching(/lanes are not/) }]);
  });
});
