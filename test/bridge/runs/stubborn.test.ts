import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { commandOptions } from '../../../bridge/agents/command/settings.js';
import { createCommandAgent } from '../../../bridge/agents/command.js';
import { markedLine } from '../../../bridge/agents/program/markedLine.js';
import { endRun } from '../../../bridge/runs/endRun.js';
import { proveRunDead } from '../../../bridge/runs/proof.js';
import type { RunTarget } from '../../../bridge/runs/runProcesses.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { RUN_MARK, systemProcessTable } from '../../../src/host/processes.js';
import { readStat } from '../../../src/host/procfs.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { killLeftovers, newRunId } from './processes.js';

const GRACE_MS = 300;
const PATH = '/usr/local/bin:/usr/bin:/bin';

interface Agent {
  readonly target: RunTarget & { readonly groupPid: number };
  /** The pids that it said, one per line. */
  readonly said: readonly number[];
}

afterEach(killLeftovers);

/**
 * Started as the bridge starts agents: a session of its own, both marks, its start noted.
 * @param script begins once the marks are set
 * @param lines how many pids it says
 */
async function startAgent(script: string, lines: number): Promise<Agent> {
  const runId = newRunId();
  const environment = { PATH, [RUN_MARK]: runId };
  const { command, args } = markedLine(
    { command: '/bin/sh', args: ['-c', `read go; ${script}`] },
    { runId, environment },
  );
  const child = spawn(command, args, { detached: true, env: environment, stdio: ['pipe', 'pipe', 'ignore'] });
  const groupPid = child.pid ?? 0;
  const groupStart = systemProcessTable().find(groupPid)?.start ?? '';
  afterThisTest(() => void child.stdout.destroy());
  const said: number[] = [];
  const heard = createInterface({ input: child.stdout });
  const all = new Promise<void>((resolve) => {
    heard.on('line', (line) => {
      said.push(Number(line));
      if (said.length === lines) resolve();
    });
  });
  child.stdin.end('go\n');
  await all;
  for (const pid of said) expect(readStat(pid)).toMatchObject({ pid });
  return { target: { runId, groupPid, groupStart }, said };
}

const here = readProcessIdentity('here');

/** As another process sees it: the standby, or the next bridge. */
async function isProvenDead({ runId, groupPid, groupStart = '' }: RunTarget): Promise<boolean> {
  const owner = { ...here, pid_start: '1' };
  const run = { run_id: runId, owner, pid: groupPid, pid_start: groupStart, started_at: 0 };
  return (await proveRunDead(run, here, { clock: systemClock, logsFolder: '/nowhere' })) !== null;
}

const isGone = (pid: number) => typeof readStat(pid) === 'string';

async function expectEnded({ target, said }: Agent): Promise<void> {
  expect(await isProvenDead(target)).toBe(false);
  const report = await endRun(target, { clock: systemClock, graceMs: GRACE_MS });
  expect(report).toMatchObject({ proven: true, by: 'mark', survivors: [] });
  expect(said.filter((pid) => !isGone(pid))).toEqual([]);
  expect(await isProvenDead(target)).toBe(true);
}

/** What `script` starts forks twice, in a session of its own, and its parents are gone before it says its pid. */
const daemon = (script: string) => `setsid sh -c '(${script}) &' & wait $!`;

describe('nothing is left of an agent', () => {
  // rule: nothing-of-a-run-is-left
  test.each([
    ['that ignores SIGTERM, as do its children', `trap '' TERM; sleep 61 & echo $!; echo $$; wait`, 2],
    ['that has become a daemon', daemon('echo $(sh -c "echo \\$PPID"); exec sleep 61'), 1],
    [
      'that has become a daemon without an environment',
      daemon('exec env -i sh -c "trap \\"\\" TERM; echo \\$\\$; sleep 61"'),
      1,
    ],
    ['that becomes another program without an environment', `exec env -i sh -c 'echo $$; exec sleep 61'`, 1],
  ])('%s', async (_, script, lines) => {
    await expectEnded(await startAgent(script, lines));
  });

  // rule: nothing-of-a-run-is-left
  test('that has gone, and left a tool without an environment in its own session', async () => {
    const agent = await startAgent(`env -i setsid sh -c 'echo $$; exec sleep 61' &`, 1);
    while (!isGone(agent.target.groupPid)) await pause(1);
    await expectEnded(agent);
  });

  // rule: nothing-of-a-run-is-left
  test('that starts a tool without an environment in its own session and exits before the first scan', async () => {
    const place = testFolder();
    const command = ['/bin/sh', '-c', `env -i setsid /bin/sh -c 'echo $$ >pid; exec sleep 61' &`];
    const agent = createCommandAgent(commandOptions.parse({ command, output: 'text' }));
    const runId = newRunId();
    const request = {
      sessionId: 's',
      runId,
      prompt: '',
      workingDirectory: place,
      conversationId: null,
      attempt: 1 as const,
    };
    const run = agent.start({ ...request, environment: { PATH, [RUN_MARK]: runId } }, new AbortController().signal);
    for await (const _ of run.events);
    const pidFile = join(place, 'pid');
    while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') await pause(1);
    const tool = Number(readFileSync(pidFile, 'utf8'));
    expect(isGone(tool)).toBe(false);
    await expectEnded({ target: { runId, groupPid: run.pid ?? 0 }, said: [tool] });
  });

  // rule: nothing-of-a-run-is-left
  test('that was stopped by a signal, including tools in their own sessions', async () => {
    const agent = await startAgent(`setsid sh -c 'echo $$; exec sleep 61' & echo $$; wait`, 2);
    for (const pid of agent.said) process.kill(pid, 'SIGSTOP');
    const report = await endRun(agent.target, { clock: systemClock, graceMs: 20_000 });
    expect(report).toMatchObject({ proven: true, killed: 0, asked: 2 });
    expect(agent.said.filter((pid) => !isGone(pid))).toEqual([]);
  });

  // rule: nothing-of-a-run-is-left
  test('that keeps starting processes while it is ended', async () => {
    const born = `trap '' TERM; echo $$; i=0; while [ $i -lt 3000 ]; do setsid sleep 61 & i=$((i + 1)); done; wait`;
    await expectEnded(await startAgent(born, 1));
  });

  test('whose dead child has not been reaped', async () => {
    const agent = await startAgent('sleep 61 & echo $!; exec sleep 61', 1);
    const [child = 0] = agent.said;
    // A shell would ask for it.
    while (readFileSync(`/proc/${agent.target.groupPid}/comm`, 'utf8') !== 'sleep\n') await pause(1);
    process.kill(child, 'SIGKILL');
    while (readStat(child) !== 'zombie') await pause(1);
    process.kill(agent.target.groupPid, 'SIGSTOP');
    await expectEnded({ ...agent, said: [] });
  });

  // rule: nothing-of-a-run-is-left
  test('that started a server which overwrites its environment with its title', async () => {
    const folder = testFolder();
    const server = `redis-server --port 0 --unixsocket ${folder}/socket --pidfile ${folder}/pid --daemonize yes --save ''`;
    const agent = await startAgent(
      `cd ${folder}; ${server} >${folder}/log; while [ ! -s pid ]; do sleep 0.02; done; cat pid; wait`,
      1,
    );
    await expectEnded(agent);
  });
});

describe('a foreign process', () => {
  // rule: nothing-of-a-run-is-left
  test('that has the pid of an agent, and its children, are not signalled and do not block', async () => {
    const stranger = await startAgent(`sleep 61 & echo $!; wait`, 1);
    const target = { runId: newRunId(), groupPid: stranger.target.groupPid, groupStart: '1' };
    expect(await isProvenDead(target)).toBe(true);
    const report = await endRun(target, { clock: systemClock, graceMs: 0 });
    expect(report).toMatchObject({ proven: true, asked: 0, killed: 0 });
    expect([stranger.target.groupPid, ...stranger.said].filter(isGone)).toEqual([]);
  });

  test('of another user in a group that reuses the group number of an agent does not block', async () => {
    const found = { pid: 2 ** 22 + 7, parent: 1, group: 2 ** 22 + 7, session: 2 ** 22 + 7, start: '5' };
    const living = new Map([[found.pid, found]]);
    const table = {
      snapshot: () => ({ living, marked: [], unreadable: [found], settled: true, showsMarks: true }),
      find: () => found,
    };
    const end = (groupStart: string) =>
      endRun(
        { runId: newRunId(), groupPid: found.pid, groupStart },
        { clock: systemClock, graceMs: 0, giveUpMs: 100, table },
      );
    expect(await end('1')).toMatchObject({ proven: true });
    expect(await end('5')).toMatchObject({ proven: false, survivors: [found.pid] });
  });
});
